"""Sixteen float32 at once: a vector type for compiled functions, and the few operations the searches need.

Numba turns neither a float minimum over a loop nor a loop of fixed length 16 into vector instructions, and these two
are the whole inner work of the searches. So the vectors are written down: `load`, `subtract`, `add_square` and so on
become one LLVM instruction each, which LLVM fits to whatever the processor has (docs/decisions/0005).

A `Lanes` value lives inside one compiled function: it is not passed to another, returned or stored but by `store`.
Rounding may differ between processors (a multiply-add is fused where that is fast); the filter's slack allows for it
and results never depend on it. With the compiler off, the same names are plain NumPy.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.extending import intrinsic, register_model
from numba.np.arrayobj import make_array

WIDTH = 16

_FLOAT = ir.FloatType()
_INT = ir.IntType(64)
_VECTOR = ir.VectorType(_FLOAT, WIDTH)
_BITS = ir.IntType(WIDTH)
# No operand is ever NaN, and the sign of zero is of no consequence: minima are then one instruction.
_FLAGS = ("nnan", "nsz")


class Lanes(types.Type):  # type: ignore[misc]
    """Type of sixteen float32 in compiled code."""

    def __init__(self):
        super().__init__(name="Lanes")


lanes_type = Lanes()


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager, kind):
        super().__init__(manager, kind, _VECTOR)


def _call(builder, name, result, arguments):
    kinds = [argument.type for argument in arguments]
    function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(result, kinds), name)
    return builder.call(function, arguments, fastmath=_FLAGS)


def _splat(builder, value):
    empty = ir.Constant(_VECTOR, ir.Undefined)
    first = builder.insert_element(empty, value, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(first, empty, ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH))


def _address(context, builder, array_type, array, place):
    data = make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [place]), _VECTOR.as_pointer())


@intrinsic
def _load(typing_context, array, place):
    def generate(context, builder, signature, arguments):
        address = _address(context, builder, signature.args[0], *arguments)
        return builder.load(address, align=4)

    return lanes_type(array, types.int64), generate


@intrinsic
def _store(typing_context, array, place, lanes):
    def generate(context, builder, signature, arguments):
        address = _address(context, builder, signature.args[0], *arguments[:2])
        builder.store(arguments[2], address, align=4)
        return context.get_dummy_value()

    return types.none(array, types.int64, lanes_type), generate


@intrinsic
def _everywhere(typing_context, value):
    def generate(context, builder, signature, arguments):
        return _splat(builder, arguments[0])

    return lanes_type(types.float32), generate


@intrinsic
def _spread(typing_context, array, place):
    def generate(context, builder, signature, arguments):
        data = make_array(signature.args[0])(context, builder, arguments[0]).data
        return _splat(builder, builder.load(builder.gep(data, [arguments[1]])))

    return lanes_type(array, types.int64), generate


@intrinsic
def _subtract(typing_context, a, b):
    def generate(context, builder, signature, arguments):
        return builder.fsub(*arguments)

    return lanes_type(lanes_type, lanes_type), generate


@intrinsic
def _add_product(typing_context, total, a, b):
    def generate(context, builder, signature, arguments):
        total, a, b = arguments
        return _call(builder, "llvm.fmuladd.v16f32", _VECTOR, [a, b, total])

    return lanes_type(lanes_type, lanes_type, lanes_type), generate


def _extremum(name):
    @intrinsic
    def of_two(typing_context, a, b):
        def generate(context, builder, signature, arguments):
            return _call(builder, f"llvm.{name}num.v16f32", _VECTOR, list(arguments))

        return lanes_type(lanes_type, lanes_type), generate

    @intrinsic
    def of_one(typing_context, lanes):
        def generate(context, builder, signature, arguments):
            return _call(builder, f"llvm.vector.reduce.f{name}.v16f32", _FLOAT, list(arguments))

        return types.float32(lanes_type), generate

    return of_two, of_one


def _comparison(operator):
    @intrinsic
    def which(typing_context, lanes, limit):
        def generate(context, builder, signature, arguments):
            holds = builder.fcmp_ordered(operator, arguments[0], _splat(builder, arguments[1]))
            return builder.zext(builder.bitcast(holds, _BITS), _INT)

        return types.int64(lanes_type, types.float32), generate

    return which


def _some(builder, holds):
    some = builder.icmp_unsigned("!=", builder.bitcast(holds, _BITS), ir.Constant(_BITS, 0))
    return builder.zext(some, _INT)


@intrinsic
def _any_at_most(typing_context, lanes, limit):
    def generate(context, builder, signature, arguments):
        return _some(builder, builder.fcmp_ordered("<=", arguments[0], _splat(builder, arguments[1])))

    return types.int64(lanes_type, types.float32), generate


@intrinsic
def _any_outside(typing_context, lanes, low, high):
    def generate(context, builder, signature, arguments):
        lanes, low, high = arguments
        below = builder.fcmp_ordered("<=", lanes, _splat(builder, low))
        above = builder.fcmp_ordered(">=", lanes, _splat(builder, high))
        return _some(builder, builder.or_(below, above))

    return types.int64(lanes_type, types.float32, types.float32), generate


@intrinsic
def _lowest(typing_context, mask):
    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), generate


def _plain_which(holds):
    return int(sum(1 << i for i in range(WIDTH) if holds[i]))


def _plain_store(array, place, lanes):
    array[place : place + WIDTH] = lanes


if config.DISABLE_JIT:

    def load(array, place):
        return array[place : place + WIDTH].copy()

    store = _plain_store

    def everywhere(value):
        return np.full(WIDTH, value, dtype=np.float32)

    def spread(array, place):
        return everywhere(array[place])

    def subtract(a, b):
        return a - b

    def add_product(total, a, b):
        return total + a * b

    minimum, maximum, least, largest = np.minimum, np.maximum, np.min, np.max

    def which_at_most(lanes, limit):
        return _plain_which(lanes <= limit)

    def which_at_least(lanes, limit):
        return _plain_which(lanes >= limit)

    def any_at_most(lanes, limit):
        return int(np.any(lanes <= limit))

    def any_outside(lanes, low, high):
        return int(np.any((lanes <= low) | (lanes >= high)))

    def lowest(mask):
        return int(mask & -mask).bit_length() - 1
else:
    # load(array, place): array[place : place + 16]; store(array, place, lanes) is its reverse.
    load, store = _load, _store
    # everywhere(value): sixteen times the value.
    everywhere = _everywhere
    # spread(array, place): sixteen times array[place].
    spread = _spread
    subtract = _subtract
    # add_product(total, a, b): total + a * b.
    add_product = _add_product
    # minimum(a, b), maximum(a, b): lane by lane; least(a), largest(a): over the lanes.
    minimum, least = _extremum("min")
    maximum, largest = _extremum("max")
    # which_at_most(a, limit): an integer whose bit i says that lane i is at most the limit.
    which_at_most, which_at_least = _comparison("<="), _comparison(">=")
    # any_at_most(a, limit): 1 if a lane is at most the limit, else 0; any_outside(a, low, high): or at least high.
    any_at_most, any_outside = _any_at_most, _any_outside
    # lowest(mask): the number of the lowest bit set.
    lowest = _lowest
