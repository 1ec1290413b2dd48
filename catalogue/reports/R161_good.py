import torch
from numgrad import numgrad
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(3, 2).double(); x = torch.randn(4, 3).double()
net(x).pow(2).sum().backward()
trace = {n: torch.zeros_like(p) for n, p in net.named_parameters()}      # key by name
for n, p in net.named_parameters():
    trace[n] = 0.9 * trace[n] + p.grad
    p.grad = trace[n].clone()
b = net.bias.detach()
assert torch.allclose(net.weight.grad, numgrad(lambda w: (x @ w.t() + b).pow(2).sum(), net.weight.detach()), atol=1e-5)
print("ok")
