import torch
from numgrad import numgrad

t = torch.eye(2, dtype=torch.double).requires_grad_()
a = torch.ones(2, dtype=torch.double, requires_grad=True)
x = torch.tensor([1., 0.], dtype=torch.double)
for _ in range(2):
    t.grad = a.grad = None
    y = t @ a                             # inside the loop
    (t @ (x + y)).pow(2).sum().backward()
    A = a.detach()
    assert torch.allclose(t.grad, numgrad(lambda v: (v @ (x + v @ A)).pow(2).sum(), t.detach()), atol=1e-4)
print("ok")
