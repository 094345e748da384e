"""Class statements: attributes, methods, inheritance, super, metaclasses, descriptors, special methods."""

# ruff: noqa: F821 (odd code is the point here)

import dataclasses
import enum


def simple_class():
    class Point:
        """A point."""

        dimension = 2

        def __init__(self, x, y=0):
            self.x = x
            self.y = y

        def norm(self):
            return self.x * self.x + self.y * self.y

        def __repr__(self):
            return f"Point({self.x}, {self.y})"

    p = Point(3, 4)
    p.y += 1
    return repr(p), p.norm(), Point.dimension, Point.__doc__, Point.__name__, Point.norm(p), p.__class__ is Point


def inheritance_and_super():
    class A:
        def __init__(self, x):
            self.x = x

        def who(self):
            return "A"

    class B(A):
        def __init__(self, x, y):
            super().__init__(x)
            self.y = y

        def who(self):
            return "B" + super().who()

    class C(B):
        def who(self):
            return "C" + super(C, self).who()

    c = C(1, 2)
    return c.x, c.y, c.who(), [k.__name__ for k in C.__mro__]


def diamond():
    class Base:
        def go(self):
            return ["base"]

    class L(Base):
        def go(self):
            return ["L", *super().go()]

    class R(Base):
        def go(self):
            return ["R", *super().go()]

    class D(L, R):
        def go(self):
            return ["D", *super().go()]

    return D().go()


def super_attribute_that_is_no_method():
    class A:
        value = 5

        @property
        def double(self):
            return self.value * 2

    class B(A):
        value = 7

        def both(self):
            return super().value, super().double

    return B().both()


def super_in_a_class_method():
    class A:
        @classmethod
        def make(cls, x):
            return cls.__name__, x

        @staticmethod
        def helper():
            return "static"

    class B(A):
        @classmethod
        def make(cls, x):
            return super().make(x + 1)

    return B.make(1), B().make(2), B.helper()


def super_stored_in_a_variable():
    class A:
        def f(self):
            return "A.f"

    class B(A):
        def f(self):
            parent = super()
            return parent.f()

    return B().f()


def super_in_a_closure():
    class A:
        def f(self):
            return 1

    class B(A):
        def f(self):
            def inner():
                return super(B, self).f()

            return inner() + (lambda me: __class__.__name__)(self).count("B")

    return B().f()


def properties():
    class C:
        def __init__(self):
            self._v = 1

        @property
        def v(self):
            return self._v

        @v.setter
        def v(self, value):
            self._v = value * 2

        @v.deleter
        def v(self):
            self._v = None

    c = C()
    c.v = 5
    first = c.v
    del c.v
    return first, c.v


def class_attributes_and_instances():
    class C:
        shared = []
        count = 0

        def add(self, x):
            self.shared.append(x)
            C.count += 1
            self.count += 10

    a, b = C(), C()
    a.add(1)
    b.add(2)
    return C.shared, C.count, a.count, b.count, vars(a)


def class_body_is_a_scope():
    x = "outer"

    class C:
        y = x
        x = "inner"
        z = x

        def get(self):
            return x

    return C.y, C.x, C.z, C().get()


def class_body_runs_code():
    class C:
        total = 0
        for i in range(4):
            total += i
        if total > 5:
            big = True
        else:
            small = True
        try:
            1 // 0
        except ZeroDivisionError:
            caught = True
        del i

    return sorted(name for name in vars(C) if not name.startswith("__"))


def class_body_reads_a_cell_unless_rebound():
    value = "cell"

    class C:
        before = value
        value = "class"
        after = value

    return C.before, C.after


def class_body_nonlocal():
    n = 1

    class C:
        nonlocal n
        n = 2
        m = n

    return n, C.m, hasattr(C, "n")


def class_in_a_class():
    class A:
        class B:
            x = 1

            def f(self):
                return __class__.__qualname__

        y = B.x + 1

    return A.B().f(), A.y


def name_mangling():
    class C:
        def __init__(self):
            self.__secret = 1

        def get(self):
            return self.__secret

    return C().get(), list(vars(C()))


def special_methods():
    class V:
        def __init__(self, *xs):
            self.xs = list(xs)

        def __add__(self, other):
            return V(*[a + b for a, b in zip(self.xs, other.xs)])

        def __radd__(self, other):
            return V(*[other + a for a in self.xs])

        def __getitem__(self, i):
            return self.xs[i]

        def __setitem__(self, i, v):
            self.xs[i] = v

        def __delitem__(self, i):
            del self.xs[i]

        def __len__(self):
            return len(self.xs)

        def __iter__(self):
            return iter(self.xs)

        def __contains__(self, x):
            return x in self.xs

        def __eq__(self, other):
            return self.xs == other.xs

        def __lt__(self, other):
            return len(self) < len(other)

        def __neg__(self):
            return V(*[-x for x in self.xs])

        def __call__(self, x):
            return x in self

        def __hash__(self):
            return 1

    v = V(1, 2) + V(3, 4)
    v[0] = 10
    w = 1 + v
    del w[0]
    return list(v), list(w), len(v), 6 in v, v == V(10, 6), v < V(1), list(-v), v(6), [*v], v[1:]


def iteration_protocol():
    class Count:
        def __init__(self, n):
            self.n = n

        def __iter__(self):
            self.i = 0
            return self

        def __next__(self):
            self.i += 1
            if self.i > self.n:
                raise StopIteration
            return self.i

    class Old:
        def __getitem__(self, i):
            if i > 2:
                raise IndexError
            return i * i

    return list(Count(3)), [x for x in Count(2)], list(Old()), sum(Count(4))


def metaclasses():
    class Meta(type):
        @classmethod
        def __prepare__(mcls, name, bases, **kwargs):
            return {"prepared": kwargs.get("tag")}

        def __new__(mcls, name, bases, namespace, **kwargs):
            cls = super().__new__(mcls, name, bases, namespace)
            cls.made_by = mcls.__name__
            return cls

        def __init__(cls, name, bases, namespace, **kwargs):
            super().__init__(name, bases, namespace)
            cls.kwargs = kwargs

        def __call__(cls, *args):
            instance = super().__call__(*args)
            instance.called = True
            return instance

    class C(metaclass=Meta, tag="t"):
        def __init__(self, x=0):
            self.x = x

    class D(C):
        pass

    return C.prepared, C.made_by, C.kwargs, C(3).x, D().called, type(D).__name__


def init_subclass_and_set_name():
    class Field:
        def __set_name__(self, owner, name):
            self.name = name

        def __get__(self, instance, owner):
            return self if instance is None else instance.__dict__.get(self.name, "default")

        def __set__(self, instance, value):
            instance.__dict__[self.name] = value

    class Base:
        registry = []

        def __init_subclass__(cls, /, flag=False, **kwargs):
            super().__init_subclass__(**kwargs)
            cls.registry.append((cls.__name__, flag))

    class A(Base, flag=True):
        field = Field()

    a = A()
    before = a.field
    a.field = 3
    return Base.registry, before, a.field, A.field.name


def new_and_slots():
    class Single:
        __slots__ = ("a",)
        instance = None

        def __new__(cls, a):
            if cls.instance is None:
                cls.instance = super().__new__(cls)
            return cls.instance

        def __init__(self, a):
            self.a = a

    s, t = Single(1), Single(2)
    return s is t, s.a


def new_returns_something_else():
    class C:
        def __new__(cls):
            return 5

        def __init__(self):
            raise AssertionError("not called")

    return C()


def getattr_and_setattr_hooks():
    class C:
        def __getattr__(self, name):
            if name.startswith("x"):
                return name.upper()
            raise AttributeError(name)

        def __setattr__(self, name, value):
            super().__setattr__(name, (value,))

        def __delattr__(self, name):
            print("del", name)

    c = C()
    c.a = 1
    del c.zzz
    return c.xy, c.a, getattr(c, "nope", "default")


def subclass_of_builtins():
    class Stack(list):
        def push(self, x):
            self.append(x)
            return self

    class Default(dict):
        def __missing__(self, key):
            return key * 2

    class Positive(int):
        def __new__(cls, value):
            return super().__new__(cls, abs(value))

    return Stack([1]).push(2), Default()["ab"], Positive(-3) + 1


def dataclass():
    @dataclasses.dataclass
    class P:
        x: int
        y: int = 2
        z: list = dataclasses.field(default_factory=list)

        def total(self):
            return self.x + self.y

    p = P(1)
    return repr(p), p == P(1), p.total(), dataclasses.asdict(dataclasses.replace(p, x=5))


def enumeration():
    class Color(enum.Enum):
        RED = 1
        BLUE = 2

        def lower(self):
            return self.name.lower()

    return [c.name for c in Color], Color(2).lower(), Color["RED"].value


def generic_base_with_mro_entries():
    class Proxy:
        def __mro_entries__(self, bases):
            return (dict,)

    class C(Proxy()):
        pass

    return C.__mro__[1].__name__, len(C.__orig_bases__)


def class_decorator():
    def tag(cls):
        cls.tag = cls.__name__ * 2
        return cls

    @tag
    class C:
        pass

    return C.tag


def class_annotations():
    class C:
        x: int = 1
        y: str

    return C.__annotations__, C.x


def closure_in_a_method():
    class C:
        def __init__(self, n):
            self.n = n

        def adder(self):
            def add(x):
                self.n += x
                return self.n

            return add

    add = C(1).adder()
    return add(2), add(3)


def bound_methods():
    class C:
        def __init__(self, n):
            self.n = n

        def times(self, k):
            return self.n * k

    f = C(3).times
    return f(4), list(map(C(2).times, [1, 2])), C.times(C(5), 2)


def error_init_returns_a_value():
    class C:
        def __init__(self):
            return 5

    C()


def error_missing_init_argument():
    class C:
        def __init__(self, x):
            self.x = x

    C()


def error_no_arguments_taken():
    class C:
        pass

    C(1)


def error_metaclass_conflict():
    class M1(type):
        pass

    class M2(type):
        pass

    class A(metaclass=M1):
        pass

    class B(metaclass=M2):
        pass

    class C(A, B):
        pass


def error_in_a_class_body():
    class C:
        x = missing_name


def error_delete_missing_name_in_a_class_body():
    class C:
        del x


def error_the_class_cell_was_lost():
    class Forgetful(type):
        def __new__(metacls, name, bases, namespace):
            namespace.pop("__classcell__")
            return super().__new__(metacls, name, bases, namespace)

    class Lost(metaclass=Forgetful):
        def f(self):
            return __class__


def error_the_class_cell_of_another():
    class Swapping(type):
        def __new__(metacls, name, bases, namespace):
            made = super().__new__(metacls, name, bases, dict(namespace))
            return super().__new__(metacls, name, bases, {}) if name == "Swapped" else made

    class Swapped(metaclass=Swapping):
        def f(self):
            return super()


def a_metaclass_that_makes_no_class():
    class Plain(metaclass=lambda name, bases, namespace: (name, sorted(namespace))):
        def f(self):
            return super()

    return Plain


def super_without_what_it_needs():
    def no_arguments():
        super()

    def no_class(x):
        super()

    class Named:
        def deleted(self):
            del self
            super()

        def emptied(self):
            nonlocal __class__
            del __class__
            super()

    found = []
    for call in (no_arguments, lambda: no_class(1), Named().deleted, Named().emptied):
        try:
            call()
        except RuntimeError as error:
            found.append(str(error))
    return found


def a_callable_instance_and_a_metaclass_call():
    class Counter(type):
        def __call__(cls, *args):
            return super().__call__(*args), args

    class Thing(metaclass=Counter):
        def __init__(self, n):
            self.n = n

        def __call__(self, by):
            return self.n * by

    thing, args = Thing(3)
    return thing(4), args


def error_prepare_gives_no_mapping():
    class Bad(type):
        @classmethod
        def __prepare__(metacls, name, bases):
            return 3

    class Never(metaclass=Bad):
        pass


def a_class_inside_a_method_knows_both_classes():
    class A:
        def make(self):
            class B:
                around = __class__

                def own(self):
                    return __class__, super().__repr__

            return B

    B = A().make()
    return B.around is A, B().own()[0] is B


def new_makes_an_instance_of_a_derived_class():
    class Base:
        def __new__(cls, wanted):
            if isinstance(wanted, str):
                return [wanted]
            return object.__new__(Derived if wanted else cls)

    class Derived(Base):
        def __init__(self, wanted):
            self.wanted = wanted

    made = Base(3)
    return Base("text"), type(made) is Derived, made.wanted, type(Base(0)) is Base


def annotations_are_not_inherited():
    class Base:
        size: int = 1

    class Derived(Base):
        pass

    return Derived.__annotations__, Base.__annotations__


def an_attribute_named_class():
    class Plain:
        __class__ = 413

    class Computed:
        @property
        def __class__(self):
            return int

    return Plain().__class__, Computed().__class__, type(Plain()) is Plain


def a_class_method_of_a_property():
    class Named:
        shown = classmethod(property(lambda cls: cls.__name__))

    return Named.shown if isinstance(Named.shown, str) else "not a string"
