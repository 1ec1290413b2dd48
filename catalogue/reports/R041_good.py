import torch
from numgrad import numgrad

torch.manual_seed(0)
s = torch.randn(2, 4, dtype=torch.double, requires_grad=True)
V = torch.randn(4, 2, dtype=torch.double)
m = torch.zeros(2, 4, dtype=torch.bool); m[:, 0] = True
att = torch.softmax(s, -1).masked_fill(m, 0.0)
(att @ V).sum().backward()
f = lambda v: (torch.softmax(v, -1).masked_fill(m, 0.0) @ V).sum()
assert torch.allclose(s.grad, numgrad(f, s.detach()), atol=1e-6)
print("ok")
