"""torch.utils._pytree: nested containers taken apart and put together again."""

from collections import OrderedDict, defaultdict, deque, namedtuple
from typing import Any

__all__ = [
    "LeafSpec", "TreeSpec", "register_pytree_node", "tree_all", "tree_all_only", "tree_any",
    "tree_any_only", "tree_flatten", "tree_iter", "tree_leaves", "tree_map", "tree_map_",
    "tree_map_only", "tree_map_only_", "tree_structure", "tree_unflatten",
]  # fmt: skip
_Node = NodeDef = namedtuple("NodeDef", "flatten_fn unflatten_fn flatten_with_keys_fn")
_nodes = SUPPORTED_NODES = {}
PyTree = Any
Context = Any


class SequenceKey(namedtuple("SequenceKey", "idx")):
    """A step of a path: x[idx]."""

    def __str__(self):
        return f"[{self.idx!r}]"

    def get(self, sequence):
        """What the step leads to."""
        return sequence[self.idx]


class MappingKey(namedtuple("MappingKey", "key")):
    """A step of a path: x[key]."""

    def __str__(self):
        return f"[{self.key!r}]"

    def get(self, mapping):
        """What the step leads to."""
        return mapping[self.key]


class GetAttrKey(namedtuple("GetAttrKey", "name")):
    """A step of a path: x.name."""

    def __str__(self):
        return f".{self.name}"

    def get(self, obj):
        """What the step leads to."""
        return getattr(obj, self.name)


def register_pytree_node(cls, flatten_fn, unflatten_fn, *, flatten_with_keys_fn=None, **unused):
    """A class as a container. flatten_fn(x) gives (children, context), unflatten_fn(children,
    context) the object again."""
    if cls in _nodes:
        raise ValueError(f"{cls} is already registered as pytree node.")
    _nodes[cls] = _Node(flatten_fn, unflatten_fn, flatten_with_keys_fn)


def _private_register_pytree_node(cls, flatten_fn, unflatten_fn, **unused):
    register_pytree_node(cls, flatten_fn, unflatten_fn, **unused)


_register_pytree_node = register_pytree_node


def _of_dict(d):
    return list(d.values()), list(d.keys())


def _dict_of(children, keys):
    return dict(zip(keys, children, strict=True))


_dict_flatten, _dict_unflatten = _of_dict, _dict_of


def _dict_flatten_with_keys(d):
    return [(MappingKey(k), v) for k, v in d.items()], list(d.keys())


def _list_flatten_with_keys(x):
    return [(SequenceKey(i), v) for i, v in enumerate(x)], None


register_pytree_node(list, lambda x: (x, None), lambda c, _: list(c))
register_pytree_node(tuple, lambda x: (list(x), None), lambda c, _: tuple(c))
register_pytree_node(dict, _of_dict, _dict_of)
register_pytree_node(OrderedDict, _of_dict, lambda c, k: OrderedDict(_dict_of(c, k)))
register_pytree_node(
    defaultdict,
    lambda d: (list(d.values()), [d.default_factory, list(d.keys())]),
    lambda c, of: defaultdict(of[0], _dict_of(c, of[1])),
)
register_pytree_node(deque, lambda d: (list(d), d.maxlen), lambda c, n: deque(c, maxlen=n))
register_pytree_node(namedtuple, lambda x: (list(x), type(x)), lambda c, kind: kind(*c))


class _Results:
    """Stands for the classes of torch.return_types."""


register_pytree_node(_Results, lambda x: (list(x), type(x)), lambda c, kind: kind(c))


def _kind(x):
    cls = type(x)
    if cls not in _nodes and isinstance(x, tuple):
        if hasattr(cls, "_fields"):
            return namedtuple
        if hasattr(cls, "n_sequence_fields"):
            return _Results
    return cls


class TreeSpec:
    """What is left of a container when its leaves are taken out."""

    def __init__(self, type=None, context=None, children_specs=()):
        self.type, self.context, self.children_specs = type, context, list(children_specs)
        self.num_children = len(self.children_specs)
        self.num_leaves = sum(c.num_leaves for c in self.children_specs)
        self.num_nodes = 1 + sum(c.num_nodes for c in self.children_specs)

    def is_leaf(self):
        """False: a container."""
        return False

    def children(self):
        """The specs of the children."""
        return list(self.children_specs)

    def child(self, index):
        """The spec of one child."""
        return self.children_specs[index]

    def unflatten(self, leaves):
        """The container with these leaves."""
        return tree_unflatten(leaves, self)

    def __eq__(self, other):
        if not isinstance(other, TreeSpec):
            return NotImplemented
        mine = (self.type, self.context, self.children_specs)
        return mine == (other.type, other.context, other.children_specs)

    def __hash__(self):
        return hash((self.type, self.num_leaves, self.num_children))

    def __repr__(self):
        name = getattr(self.type, "__name__", self.type)
        return f"TreeSpec({name}, {self.context}, {self.children_specs})"


class LeafSpec(TreeSpec):
    """The spec of one leaf."""

    def __init__(self):
        super().__init__()
        self.num_leaves = 1

    def is_leaf(self):
        """True."""
        return True

    def __repr__(self):
        return "*"


_get_node_type = _kind


def _is_leaf(tree, is_leaf=None):
    return (is_leaf is not None and is_leaf(tree)) or _kind(tree) not in _nodes


def _take(tree, leaves, is_leaf):
    node = None if is_leaf is not None and is_leaf(tree) else _nodes.get(_kind(tree))
    if node is None:
        leaves.append(tree)
        return LeafSpec()
    children, context = node.flatten_fn(tree)
    return TreeSpec(_kind(tree), context, [_take(c, leaves, is_leaf) for c in children])


def tree_flatten(tree, is_leaf=None):
    """(leaves, spec); is_leaf(x): what is not looked into."""
    leaves = []
    spec = _take(tree, leaves, is_leaf)
    return leaves, spec


def _put(spec, leaves):
    if spec.is_leaf():
        return next(leaves)
    children = [_put(c, leaves) for c in spec.children_specs]
    return _nodes[spec.type].unflatten_fn(children, spec.context)


def tree_unflatten(leaves, treespec):
    """The container of that spec with these leaves."""
    if not isinstance(treespec, TreeSpec):
        raise TypeError(
            "tree_unflatten(leaves, treespec): Expected `treespec` to be instance of TreeSpec but "
            f"got item of type {type(treespec)}."
        )
    leaves = list(leaves)
    if len(leaves) != treespec.num_leaves:
        raise ValueError(
            f"tree_unflatten(leaves, treespec): `leaves` has length {len(leaves)} but the spec "
            f"refers to a pytree that holds {treespec.num_leaves} items ({treespec})."
        )
    return _put(treespec, iter(leaves))


def tree_leaves(tree, is_leaf=None):
    """The leaves, in order."""
    return tree_flatten(tree, is_leaf)[0]


def arg_tree_leaves(*args, **kwargs):
    """The leaves of a call's arguments."""
    return tree_leaves((args, kwargs))


def tree_iter(tree, is_leaf=None):
    """The leaves, one by one."""
    return iter(tree_leaves(tree, is_leaf))


def tree_structure(tree, is_leaf=None):
    """The spec."""
    return tree_flatten(tree, is_leaf)[1]


def _like(spec, tree):
    """The leaves of another tree of that structure."""
    leaves, other = [], None
    if spec.is_leaf():
        return [tree]
    node = _nodes.get(_kind(tree))
    if node is not None:
        children, other = node.flatten_fn(tree)
    if node is None or _kind(tree) is not spec.type or len(children) != spec.num_children:
        raise ValueError(f"Node type or arity mismatch: expected {spec}, but got {type(tree)}.")
    if other != spec.context and not isinstance(tree, deque):
        raise ValueError(f"Node context mismatch: expected {spec.context!r}, but got {other!r}.")
    for child, of in zip(children, spec.children_specs, strict=True):
        leaves += _like(of, child)
    return leaves


def tree_map(func, tree, *rests, is_leaf=None):
    """The tree with func(leaf, *leaves of the others at its place) at each leaf."""
    leaves, spec = tree_flatten(tree, is_leaf)
    others = [_like(spec, r) for r in rests]
    return tree_unflatten([func(*x) for x in zip(leaves, *others, strict=True)], spec)


def tree_map_(func, tree, *rests, is_leaf=None):
    """Calls func as tree_map does, and gives the tree itself."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def _only(kind, func):
    if callable(kind) and not isinstance(kind, type):
        return lambda x: func(x) if kind(x) else x
    return lambda x: func(x) if isinstance(x, kind) else x


def tree_map_only(type_or_types_or_pred, func, tree, is_leaf=None):
    """tree_map of the leaves of these types alone."""
    return tree_map(_only(type_or_types_or_pred, func), tree, is_leaf=is_leaf)


def tree_map_only_(type_or_types_or_pred, func, tree, is_leaf=None):
    """tree_map_ of the leaves of these types alone."""
    return tree_map_(_only(type_or_types_or_pred, func), tree, is_leaf=is_leaf)


def tree_all(pred, tree, is_leaf=None):
    """Whether pred holds for every leaf."""
    return all(map(pred, tree_iter(tree, is_leaf)))


def tree_any(pred, tree, is_leaf=None):
    """Whether pred holds for some leaf."""
    return any(map(pred, tree_iter(tree, is_leaf)))


def tree_all_only(kind, pred, tree, is_leaf=None):
    """Whether pred holds for every leaf of that type."""
    return all(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, kind))


def tree_any_only(kind, pred, tree, is_leaf=None):
    """Whether pred holds for some leaf of that type."""
    return any(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, kind))


# --- with the path to each leaf -------------------------------------------------------------------


def _keyed(tree):
    """[(step, child)] of a container."""
    kind = _kind(tree)
    node = _nodes[kind]
    if node.flatten_with_keys_fn is not None:
        return node.flatten_with_keys_fn(tree)[0]
    children = node.flatten_fn(tree)[0]
    if kind in (dict, OrderedDict, defaultdict):
        return list(zip(map(MappingKey, tree), children, strict=True))
    if kind is namedtuple:
        return list(zip(map(GetAttrKey, tree._fields), children, strict=True))
    return [(SequenceKey(i), child) for i, child in enumerate(children)]


def _walk(tree, path, is_leaf):
    if _is_leaf(tree, is_leaf):
        yield path, tree
        return
    for step, child in _keyed(tree):
        yield from _walk(child, (*path, step), is_leaf)


def tree_flatten_with_path(tree, is_leaf=None):
    """([(path, leaf)], spec); a path is a tuple of SequenceKey, MappingKey, GetAttrKey."""
    return list(_walk(tree, (), is_leaf)), tree_structure(tree, is_leaf)


def tree_leaves_with_path(tree, is_leaf=None):
    """[(path, leaf)]."""
    return list(_walk(tree, (), is_leaf))


def tree_map_with_path(func, tree, *rests, is_leaf=None):
    """The container of func(path, leaf, ..)."""
    paths = iter([path for path, _ in _walk(tree, (), is_leaf)])
    return tree_map(lambda *leaves: func(next(paths), *leaves), tree, *rests, is_leaf=is_leaf)


def keystr(path):
    """A path as a text."""
    return "".join(map(str, path))


def key_get(obj, path):
    """What a path leads to."""
    for step in path:
        obj = step.get(obj)
    return obj


def treespec_pprint(treespec):
    """A spec as a text."""
    return repr(tree_unflatten(["*"] * treespec.num_leaves, treespec)).replace("'*'", "*")
