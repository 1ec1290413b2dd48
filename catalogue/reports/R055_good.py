import torch
from numgrad import numgrad
import torch.nn as nn

torch.manual_seed(0)
conv = nn.Conv2d(1, 2, 3).double()
imgs = [k.detach().clone().clamp_(0, 1) for k in conv.weight]   # plotting only: work on copies
x = torch.randn(1, 1, 4, 4).double()
conv(x).pow(2).sum().backward()
b = conv.bias.detach()
f = lambda w: nn.functional.conv2d(x, w, b).pow(2).sum()
assert torch.allclose(conv.weight.grad, numgrad(f, conv.weight.detach()), atol=1e-5)
print("ok", len(imgs))
