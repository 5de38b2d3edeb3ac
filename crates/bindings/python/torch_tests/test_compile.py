"""Models that `torch.compile` compiles, beside PyTorch itself."""

import os
import unittest

import numpy as np
import torch

import spirula.torch
from spirula.torch import _backend

torch.manual_seed(0)


class CompileCase(unittest.TestCase):
    """A test that compares compiled functions with PyTorch's."""

    def setUp(self):
        torch._dynamo.reset()
        self.parts = []
        original = _backend._compile_whole

        def count(module, device):
            self.parts.append(module)
            return original(module, device)

        _backend._compile_whole = count
        self.addCleanup(setattr, _backend, "_compile_whole", original)

    def compile(self, function, **options):
        return torch.compile(function, backend="spirula", **options)

    def check(self, function, *arguments, programs=1, **tolerances):
        """Compares results, and the number of programs that they took."""
        with torch.no_grad():
            expected, found = function(*arguments), self.compile(function)(*arguments)
        torch.testing.assert_close(found, expected, **tolerances)
        self.assertEqual(len(self.parts), programs)


class ModelTest(CompileCase):
    def test_convolutions(self):
        model = torch.nn.Sequential(
            torch.nn.Conv2d(3, 8, 3, stride=2, padding=1, groups=1),
            torch.nn.BatchNorm2d(8),
            torch.nn.ReLU(),
            torch.nn.Conv2d(8, 8, 3, padding="same", dilation=2, groups=4),
            torch.nn.MaxPool2d(2),
            torch.nn.ConvTranspose2d(8, 6, 3, stride=2, output_padding=1, groups=2),
            torch.nn.AvgPool2d(3, padding=1, ceil_mode=True, count_include_pad=False),
            torch.nn.AdaptiveAvgPool2d(2),
            torch.nn.Flatten(),
            torch.nn.Linear(24, 10),
            torch.nn.Softmax(-1),
        ).eval()
        self.check(model, torch.randn(2, 3, 32, 32))

    def test_attention(self):
        class Block(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.norm = torch.nn.LayerNorm(32)
                self.project = torch.nn.Linear(32, 96)
                self.embed = torch.nn.Embedding(50, 32)

            def forward(self, tokens):
                x = self.norm(self.embed(tokens))
                q, k, v = self.project(x).view(*x.shape[:2], 3, 4, 8).permute(2, 0, 3, 1, 4)
                y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
                return torch.nn.functional.gelu(y.transpose(1, 2).flatten(2))

        self.check(Block().eval(), torch.randint(0, 50, (2, 7)), rtol=1e-5, atol=1e-5)

    def test_reduced_precision(self):
        model = torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.SiLU(), torch.nn.Linear(16, 4)).bfloat16()
        self.check(model, torch.randn(3, 16).bfloat16(), rtol=2e-2, atol=2e-2)

    def test_training(self):
        def train(compiled):
            torch.manual_seed(1)
            model = torch.nn.Sequential(
                torch.nn.Conv2d(1, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.Tanh(), torch.nn.Flatten(), torch.nn.Linear(144, 3)
            )
            step = self.compile(model) if compiled else model
            optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
            losses = []
            for _ in range(5):
                optimizer.zero_grad()
                x, y = torch.randn(8, 1, 8, 8), torch.randint(0, 3, (8,))
                loss = torch.nn.functional.cross_entropy(step(x), y)
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
            return losses

        np.testing.assert_allclose(train(True), train(False), rtol=1e-4)
        self.assertGreaterEqual(len(self.parts), 2)

    def test_changed_parameters(self):
        model = torch.nn.Linear(4, 4)
        compiled = self.compile(model)
        x = torch.randn(2, 4)
        with torch.no_grad():
            for _ in range(3):
                torch.testing.assert_close(compiled(x), model(x))
                model.weight.mul_(2)
                model.bias.data = torch.randn(4)


class GraphTest(CompileCase):
    def test_sizes_at_run_time(self):
        function = self.compile(lambda x: (x @ x.T).softmax(-1).sum(0) * x.shape[0], dynamic=True)
        for size in (3, 5, 8, 5):
            x = torch.randn(size, 4)
            torch.testing.assert_close(function(x), (x @ x.T).softmax(-1).sum(0) * size)

    def test_operations_of_pytorch(self):
        """Operations without a translation run between two programs."""
        symmetric = torch.randn(4, 4)
        self.check(lambda x: torch.linalg.inv(x @ x.T + torch.eye(4)).sin(), symmetric, programs=2, rtol=1e-4, atol=1e-4)

    def test_random_numbers(self):
        """Random numbers are those of PyTorch's generator."""

        def function(x):
            return torch.nn.functional.dropout(x, 0.5, training=True) + torch.rand(4)

        torch.manual_seed(7)
        expected = function(torch.ones(4))
        torch.manual_seed(7)
        found = self.compile(function)(torch.ones(4))
        self.assertEqual(found.shape, expected.shape)

    def test_strides(self):
        with torch.no_grad():
            found = self.compile(lambda x: (x + 1).t())(torch.randn(3, 5))
        self.assertEqual(found.stride(), (1, 5))
        self.check(lambda x: (x + 1).expand(4, 3, 5), torch.randn(3, 5), programs=2)

    def test_results_without_elements(self):
        self.check(lambda x: (x[:0] * 2, x.sum(), x.shape[0]), torch.randn(3, 2))

    def test_changes_of_arguments(self):
        def function(x, y):
            x.add_(y)
            x[1:3] *= 2
            return x.sum()

        x = torch.randn(4)
        y, z = torch.randn(4), x.clone()
        with torch.no_grad():
            torch.testing.assert_close(self.compile(function)(x, y), function(z, y))
        torch.testing.assert_close(x, z)

    def test_changes_of_intermediate_tensors(self):
        """PyTorch runs graphs that change views of their own tensors."""

        def function(x):
            y = torch.zeros(4)
            y[1:3].copy_(x)
            return y + 1

        x = torch.tensor([1.0, 2.0])
        traced = torch.fx.experimental.proxy_tensor.make_fx(function)(x)
        compiled = _backend.compile_static_graph(traced, spirula.Device("cpu"))
        torch.testing.assert_close(compiled(x), function(x))

    def test_masks_and_indices(self):
        def function(x, places):
            x = x.masked_fill(x > 1, 0)
            x = x.index_put((places,), torch.ones(3, 4), accumulate=True)
            values, order = x.sort(dim=1, descending=True)
            return x[places, 1:], values, order, x.gather(1, order), x.argmax(0), x.cumsum(1), x.tril()

        self.check(function, torch.randn(5, 4), torch.tensor([0, -1, 0]))


class ExportTest(unittest.TestCase):
    def test_names_of_parameters(self):
        model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU())
        x = torch.randn(2, 4)
        text = spirula.torch.to_stablehlo(torch.export.export(model, (x,)))
        function = spirula.compile(text, name="model.mlir").function("main")
        self.assertEqual([parameter.name for parameter in function.parameters], ["0.weight", "0.bias", "input"])
        state = {name: tensor.numpy() for name, tensor in model.state_dict().items()}
        (result,) = function(**state, input=x.numpy())
        np.testing.assert_allclose(result.numpy(), model(x).detach().numpy(), rtol=1e-5, atol=1e-6)

    def test_refused_operation(self):
        class Inverse(torch.nn.Module):
            def forward(self, x):
                return torch.linalg.inv(x)

        exported = torch.export.export(Inverse(), (torch.eye(3),))
        with self.assertRaisesRegex(spirula.torch.UnsupportedError, "linalg_inv.*test_compile.py"):
            spirula.torch.to_stablehlo(exported)


class DeviceTest(CompileCase):
    def test_vulkan(self):
        names = [device.name for device in spirula.devices()]
        found = next((name for name in names if name.startswith("vulkan")), None)
        if found is None:
            self.skipTest("there is no Vulkan device")
        model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Tanh())
        x = torch.randn(2, 8)
        with torch.no_grad():
            compiled = torch.compile(model, backend="spirula", options={"device": found})
            torch.testing.assert_close(compiled(x), model(x), rtol=1e-4, atol=1e-4)

    def test_unknown_device(self):
        with self.assertRaisesRegex(Exception, "nowhere"):
            torch.compile(torch.sin, backend="spirula", options={"device": "nowhere"})(torch.ones(2))


if __name__ == "__main__":
    os.environ.setdefault("TORCHDYNAMO_VERBOSE", "1")
    unittest.main()
