import torch
from numgrad import numgrad
import torch.nn as nn

torch.manual_seed(0)
layer = nn.Linear(4, 4).double()
old, new = torch.randn(4).double(), torch.randn(4).double()
w0 = layer.weight.detach().clone()
with torch.no_grad():
    layer.weight[:, 2] += 0.5 * (new - old)
assert torch.allclose(layer.weight.detach()[:, 2], w0[:, 2] + 0.5 * (new - old))
x = torch.randn(3, 4).double()
layer(x).tanh().sum().backward()
f = lambda w: (x @ w.t() + layer.bias.detach()).tanh().sum()
assert torch.allclose(layer.weight.grad, numgrad(f, layer.weight.detach()), atol=1e-6)
print("ok")
