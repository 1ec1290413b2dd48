import torch
from numgrad import numgrad

torch.manual_seed(0)
T, d = 3, 2
W = torch.randn(d, d, dtype=torch.double, requires_grad=True)
out = torch.zeros(T, d, dtype=torch.double)      # no requires_grad: it becomes part of the graph by itself
for t in range(T):
    out[t] = (W @ torch.full((d,), float(t + 1), dtype=torch.double)).tanh()
out.sum().backward()
f = lambda w: sum((w @ torch.full((d,), float(t + 1), dtype=torch.double)).tanh().sum() for t in range(T))
assert torch.allclose(W.grad, numgrad(f, W.detach()), atol=1e-6)
print("ok", out.grad_fn)
