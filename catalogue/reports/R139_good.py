import torch
from numgrad import numgrad

class Sq(torch.autograd.Function):
    @staticmethod
    def forward(x): return x * x
    @staticmethod
    def setup_context(ctx, inputs, output): ctx.save_for_backward(*inputs)
    @staticmethod
    def backward(ctx, g): x, = ctx.saved_tensors; return 2 * x * g
x = torch.arange(1., 4., dtype=torch.double)
g = torch.func.grad(lambda v: Sq.apply(v).sum())(x)
assert torch.allclose(g, numgrad(lambda v: (v * v).sum(), x), atol=1e-5)
print("ok")
