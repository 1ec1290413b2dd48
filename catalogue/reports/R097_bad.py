import torch

# a second derivative of a compiled function
torch.manual_seed(0)
net = torch.nn.Linear(3, 3)
f = torch.compile(lambda x: torch.tanh(torch.tanh(net(x)) @ net.weight).pow(2).sum(), backend="aot_eager")
x = torch.randn(4, 3, requires_grad=True)
(slope,) = torch.autograd.grad(f(x), x, create_graph=True)
slope.pow(2).sum().backward()
