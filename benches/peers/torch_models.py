"""Models of timm and transformers by `torch.compile(backend="spirula")`, beside PyTorch's eager mode.

    SPIRULA_DEVICE=vulkan python3 benches/peers/torch_models.py --peer cuda resnet18 bert

Parameters are random. Times are the best of ten calls in ms, with input and result on the processor.
"""

import argparse
import copy
import time
import warnings

import torch
from torch.utils import _pytree


def make_image_model(name):
    import timm

    return timm.create_model(name, pretrained=False).eval(), (torch.randn(1, 3, 224, 224),), {}


def make_text_model(name, config, vocabulary, **sizes):
    import transformers

    model = getattr(transformers, name)(getattr(transformers, config)(**sizes))
    return model.eval(), (torch.randint(0, vocabulary, (1, 32)),), {}


def make_vit():
    model, _, _ = make_text_model("ViTModel", "ViTConfig", 1, num_hidden_layers=4)
    return model, (torch.randn(1, 3, 224, 224),), {}


def make_t5():
    sizes = {"num_layers": 2, "d_model": 256, "d_ff": 512, "use_cache": False}
    model, (tokens,), _ = make_text_model("T5Model", "T5Config", 32128, **sizes)
    return model, (), {"input_ids": tokens, "decoder_input_ids": tokens[:, :8]}


def make_whisper():
    sizes = {f"{part}_layers": 2 for part in ("encoder", "decoder")} | {"d_model": 128, "use_cache": False}
    sizes |= {f"{part}_attention_heads": 4 for part in ("encoder", "decoder")}
    sizes |= {f"{part}_ffn_dim": 256 for part in ("encoder", "decoder")}
    model, (tokens,), _ = make_text_model("WhisperModel", "WhisperConfig", 50000, **sizes)
    return model, (), {"input_features": torch.randn(1, 80, 3000), "decoder_input_ids": tokens[:, :8]}


_LLAMA = {
    "hidden_size": 256,
    "intermediate_size": 688,
    "num_hidden_layers": 4,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "vocab_size": 1000,
    "use_cache": False,
}

_IMAGES = {
    "resnet18": "resnet18",
    "mobilenetv3": "mobilenetv3_small_100",
    "efficientnet_b0": "efficientnet_b0",
    "convnext": "convnext_atto",
    "swin": "swin_tiny_patch4_window7_224",
    "deit": "deit_tiny_patch16_224",
    "mixer": "mixer_s32_224",
    "densenet": "densenet121",
}

_MODELS = {name: (lambda full=full: make_image_model(full)) for name, full in _IMAGES.items()} | {
    "gpt2": lambda: make_text_model("GPT2LMHeadModel", "GPT2Config", 50257, n_layer=4, use_cache=False),
    "bert": lambda: make_text_model("BertModel", "BertConfig", 30522, num_hidden_layers=4),
    "llama": lambda: make_text_model("LlamaForCausalLM", "LlamaConfig", 1000, **_LLAMA),
    "vit": make_vit,
    "t5": make_t5,
    "whisper": make_whisper,
}


def list_tensors(result):
    result = result.to_tuple() if hasattr(result, "to_tuple") else result
    return [leaf for leaf in _pytree.tree_leaves(result) if isinstance(leaf, torch.Tensor)]


def find_best_time(function):
    times = []
    for _ in range(10):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times) * 1e3


def compare_model(name, peer):
    torch.manual_seed(0)
    torch._dynamo.reset()
    model, arguments, named = _MODELS[name]()
    expected = list_tensors(model(*arguments, **named))
    compiled = torch.compile(model, backend="spirula")
    found = list_tensors(compiled(*arguments, **named))
    errors = [(x - y).abs().max() / y.abs().max() for x, y in zip(found, expected, strict=True)]
    other = copy.deepcopy(model).to(peer)

    def call_peer():
        given = _pytree.tree_map(lambda leaf: leaf.to(peer), (arguments, named))
        return [tensor.cpu() for tensor in list_tensors(other(*given[0], **given[1]))]

    call_peer()
    ours, theirs = find_best_time(lambda: compiled(*arguments, **named)), find_best_time(call_peer)
    print(f"{name:16} {ours:8.2f} {theirs:8.2f} {ours / theirs:6.2f}   error {max(errors).item():.1e}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", default="cpu", help="device of PyTorch: cpu or cuda")
    parser.add_argument("models", nargs="*", help=f"by default all: {' '.join(_MODELS)}")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    print(f"{'model':16} {'ours':>8} {'PyTorch':>8}  ratio")
    with torch.no_grad():
        for name in options.models or _MODELS:
            compare_model(name, options.peer)


if __name__ == "__main__":
    main()
