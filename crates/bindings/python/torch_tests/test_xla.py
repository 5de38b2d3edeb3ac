"""PyTorch/XLA on the plugin, beside PyTorch itself."""

import os
import unittest

os.environ["PJRT_DEVICE"] = "SPIRULA"

import torch
import torch_xla


class XlaTest(unittest.TestCase):
    def test_training(self):
        def train(device):
            torch.manual_seed(0)
            model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.GELU(), torch.nn.Flatten(), torch.nn.Linear(288, 5))
            x, y = torch.randn(4, 3, 8, 8), torch.randint(0, 5, (4,))
            model, x, y = model.to(device), x.to(device), y.to(device)
            optimizer = torch.optim.Adam(model.parameters())
            losses = []
            for _ in range(3):
                optimizer.zero_grad()
                loss = torch.nn.functional.cross_entropy(model(x), y)
                loss.backward()
                optimizer.step()
                torch_xla.sync()
                losses.append(loss.item())
            return losses

        torch.testing.assert_close(train(torch_xla.device()), train("cpu"), rtol=1e-4, atol=1e-5)

    def test_compiled_function(self):
        x = torch.randn(4, 6, device=torch_xla.device())
        compiled = torch.compile(lambda x: x.topk(2).values.erf() @ x.sinh()[:2], backend="openxla")
        with torch.no_grad():
            found = compiled(x)
        x = x.cpu()
        torch.testing.assert_close(found.cpu(), x.topk(2).values.erf() @ x.sinh()[:2])


if __name__ == "__main__":
    unittest.main()
