import torch
from numgrad import numgrad

class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, k):
        ctx.k = k
        return x * k
    @staticmethod
    def backward(ctx, g):
        return g * ctx.k, None            # None for the non-tensor argument
x = torch.arange(3., dtype=torch.double, requires_grad=True)
Scale.apply(x, 2.0).pow(2).sum().backward()
assert torch.allclose(x.grad, numgrad(lambda v: (2 * v).pow(2).sum(), x.detach()), atol=1e-5)
print("ok")
