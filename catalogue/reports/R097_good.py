import torch
from numgrad import numgrad

torch.manual_seed(0)
net = torch.nn.Linear(3, 3).double()
weight = net.weight.detach().clone()
bias = net.bias.detach().clone()

def f(x):                                 # what is differentiated twice stays uncompiled
    return torch.tanh(torch.tanh(x @ weight.t() + bias) @ weight).pow(2).sum()

def penalty(x, create_graph):
    x = x if x.requires_grad else x.clone().requires_grad_()
    (slope,) = torch.autograd.grad(f(x), x, create_graph=create_graph)
    return slope.pow(2).sum()

x = torch.randn(4, 3, dtype=torch.double, requires_grad=True)
penalty(x, True).backward()
assert torch.allclose(x.grad, numgrad(lambda v: penalty(v, False), x.detach()), atol=1e-5)
