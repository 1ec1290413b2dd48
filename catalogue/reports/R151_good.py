import torch
from numgrad import numgrad

w = torch.tensor([[0.5], [1.]], dtype=torch.double, requires_grad=True)
mask = torch.tensor([[False, True, False, False], [False] * 4])
t = w.expand(2, 4).masked_fill(mask, 3.)
t.pow(2).sum().backward()
assert torch.allclose(w.grad, numgrad(lambda v: v.expand(2, 4).masked_fill(mask, 3.).pow(2).sum(), w.detach()), atol=1e-5)
print("ok")
