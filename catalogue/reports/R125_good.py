import torch
from numgrad import numgrad

class Mul3_(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        a.mul_(3)
        ctx.mark_dirty(a)                 # tells autograd that a now has this node as its history
        return a
    @staticmethod
    def backward(ctx, g): return 3 * g
p = torch.tensor([2.0], dtype=torch.double, requires_grad=True)
x = p * 1
Mul3_.apply(x)
(x * x).sum().backward()
assert torch.allclose(p.grad, numgrad(lambda v: (3 * v).pow(2).sum(), p.detach()), atol=1e-4)
print("ok")
