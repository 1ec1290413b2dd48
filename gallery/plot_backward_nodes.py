# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "inventory/node-call-kwargs",
#     "inventory/node-call-non-tensor",
#     "inventory/node-call-wrong-arg-count",
#     "inventory/engine-final-callback-outside",
#     "inventory/graph-task-order-outside",
#     "inventory/should-execute-nodes-outside",
#     "inventory/will-execute-node-not-a-node",
#     "inventory/will-execute-node-leaf-in-grad",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "TypeError"
# message = "keyword arguments are not supported"
# source = "torch/csrc/autograd/python_cpp_function.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "TypeError"
# message = "argument <position> is not a Variable"
# source = "torch/csrc/autograd/python_cpp_function.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "TypeError"
# message = "expected <expected> arguments, got <count> instead"
# source = "torch/csrc/autograd/python_cpp_function.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Final callbacks can only be installed during backward pass."
# source = "torch/csrc/autograd/engine.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "_current_graph_task_execution_order should only be called during the backward pass"
# source = "torch/csrc/autograd/init.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "_get_should_execute_nodes should only be called during the backward pass"
# source = "torch/csrc/autograd/init.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "_will_engine_execute_node expects an grad_fn, but got <type>"
# source = "torch/csrc/autograd/init.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "A leaf node was passed to _will_engine_execute_node but we are currently running autograd.grad(). This is currently not supported."
# source = "torch/csrc/autograd/init.cpp"
# ///
"""
Calling a node or the engine by hand
====================================

You called a `grad_fn` yourself, or asked the engine a question that only makes
sense while backward runs. Both are open to libraries that schedule their own work
in backward, and both are strict.
"""

import traceback

import torch

# %%
# The errors
# ----------
#
# A node is a function: it takes the gradient of its output and returns those of
# its inputs. To look into a graph, somebody calls one.

x = torch.tensor([3.0, 4.0], requires_grad=True)
node = (x * 2).grad_fn

try:
    node(grad=torch.ones(2))
except TypeError:
    traceback.print_exc()

try:
    node(1.0)
except TypeError:
    traceback.print_exc()

try:
    node()
except TypeError:
    traceback.print_exc()

# %%
# Pass one tensor for each output
# -------------------------------
#
# Without keywords, and tensors only. The other factor was a number, so it has no
# gradient.

gradients = node(torch.ones(2))
print(gradients)
torch.testing.assert_close(gradients[0], torch.full((2,), 2.0))

# %%
# A callback for the end of backward
# ----------------------------------
#
# ``queue_callback`` belongs to the `backward pass` that is running. Outside there
# is none.

engine = torch.autograd.Variable._execution_engine
try:
    engine.queue_callback(lambda: None)
except RuntimeError:
    traceback.print_exc()

# %%
# Register it from a `hook`, which runs inside. It is called when every gradient is
# there.

x = torch.tensor([3.0, 4.0], requires_grad=True)
seen = []
y = x * 2
y.register_hook(lambda grad: engine.queue_callback(lambda: seen.append(x.grad.clone())))
y.sum().backward()

print(seen)
torch.testing.assert_close(seen[0], torch.full((2,), 2.0))

# %%
# Questions about the running backward
# ------------------------------------
#
# Which nodes will run, and in which order, is known while backward runs. They are
# private functions; a hook is the place for them.

try:
    torch._C._current_graph_task_execution_order()
except RuntimeError:
    traceback.print_exc()

try:
    torch._C._will_engine_execute_node(node)
except RuntimeError:
    traceback.print_exc()

try:
    torch._C._will_engine_execute_node(3)
except RuntimeError:
    traceback.print_exc()

# %%
# Inside, they answer. The order exists only while one thread does all the work:

x = torch.tensor([3.0, 4.0], requires_grad=True)
y = x * 2
total = y.sum()
order = []
total.register_hook(lambda grad: order.extend(torch._C._current_graph_task_execution_order()))
with torch.autograd.set_multithreading_enabled(False):
    total.backward()

print([node.name() for node in order])
torch.testing.assert_close(x.grad, torch.full((2,), 2.0))
assert y.grad_fn in order

# %%
# A leaf during autograd.grad
# ---------------------------
#
# `torch.autograd.grad` does not run the nodes of leaves (`AccumulateGrad`), and the
# question about one is refused. Ask about the node before it.

x = torch.tensor([3.0, 4.0], requires_grad=True)
y = x * 2
leaf_node = y.grad_fn.next_functions[0][0]
handle = y.register_hook(lambda grad: torch._C._will_engine_execute_node(leaf_node) and None)
try:
    torch.autograd.grad(y.sum(), x)
except RuntimeError:
    traceback.print_exc()
handle.remove()

answers = []
y.register_hook(lambda grad: answers.append(torch._C._will_engine_execute_node(y.grad_fn)))
(gradient,) = torch.autograd.grad(y.sum(), x)

print(answers, gradient)
assert answers == [True]
torch.testing.assert_close(gradient, torch.full((2,), 2.0))

# %%
# See also
# --------
#
# * `hook-tensor` and `hook-node`: the public way to run code in backward
