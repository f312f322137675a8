"""The part of a notebook that its live widgets need."""

import ast
import builtins
import symtable


def shows_widget(cell):
    """Whether a code cell's stored output is an interactive figure's line about itself."""
    texts = [output.get("data", {}).get("text/plain", "") for output in cell.outputs]
    return any(text.startswith("Interactive figure.") for text in texts)


def slice_of(sources, wanted):
    """Numbers of the cells wanted, of those that import, and of all that they take names from.

    Examples
    --------
    >>> cells = ["import safeteach as st", "a = 1", "b = 2", "st.widgets.replay(a)", "c = a"]
    >>> slice_of(cells, {3})
    [0, 1, 3]
    """
    names = [_names(source) for source in sources]
    imports = {i for i, source in enumerate(sources) if _imports(source)}
    kept = set(wanted) | imports
    to_follow = list(kept)
    while to_follow:
        at = to_follow.pop()
        found = set()
        for name in names[at][1]:
            # Where it is bound last, and where its contents may be set after that.
            for i in reversed(range(at)):
                binds, _, sets = names[i]
                if name in binds | sets:
                    found.add(i)
                if name in binds:
                    break
        to_follow += found - kept
        kept |= found
    return sorted(kept)


def _imports(source):
    body = ast.parse(source).body
    return any(isinstance(node, ast.Import | ast.ImportFrom) for node in body)


def _names(source):
    """Names that code binds, that it takes from before, and whose contents it sets.

    Examples
    --------
    >>> [sorted(names) for names in _names("for i in a:\\n    b[i] = [i + c for c in d]")]
    [['i'], ['a', 'b', 'd'], ['b']]
    """
    tree, table = ast.parse(source), symtable.symtable(source, "cell", "exec")
    binds = {s.get_name() for s in table.get_symbols() if s.is_assigned() or s.is_imported()}
    nodes = list(ast.walk(tree))
    loops = {n.id for f in nodes if isinstance(f, ast.For) for n in ast.walk(f.target)
             if isinstance(n, ast.Name)}  # fmt: skip
    sets = {
        node.value.id
        for node in nodes
        if isinstance(node, ast.Attribute | ast.Subscript)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
    }
    takes = {s.get_name() for s in table.get_symbols() if s.is_referenced()} | _globals(table)
    return binds, takes - loops - set(dir(builtins)), sets


def _globals(table):
    """Names that the functions and comprehensions of a table take from around them."""
    inner = table.get_children()
    own = {s.get_name() for child in inner for s in child.get_symbols() if s.is_global()}
    return own.union(*map(_globals, inner))
