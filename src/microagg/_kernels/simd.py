"""Sixteen numbers at once: vector types for compiled functions, and the few operations the searches need.

Numba turns neither a float minimum over a loop nor a loop of fixed length 16 into vector instructions, and these two
are the whole inner work of the searches. So the vectors are written down: `load`, `subtract`, `add_product` and so on
become one LLVM instruction each, which LLVM fits to whatever the processor has (docs/decisions/0005).

Lanes are sixteen float32 or sixteen int32. A `Lanes` value lives inside one compiled function: it is not passed to
another, returned or stored but by `store`. Rounding of float32 may differ between processors (a multiply-add is fused
where that is fast); the filter's slack allows for it and results never depend on it. Whole numbers wrap around. With
the compiler off, the same names are plain NumPy.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from llvmlite.binding import llvm_version_info
from numba import config, types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.extending import intrinsic, register_model
from numba.np.arrayobj import make_array

WIDTH = 16

_INT = ir.IntType(64)
_BITS = ir.IntType(WIDTH)
_INT32 = ir.IntType(32)
_FLOATS, _WHOLES = ir.VectorType(ir.FloatType(), WIDTH), ir.VectorType(_INT32, WIDTH)
# No operand is ever NaN, and the sign of zero is of no consequence: minima are then one instruction.
_FLAGS = ("nnan", "nsz")


class Lanes(types.Type):  # type: ignore[misc]
    """Type of sixteen float32, or sixteen int32, in compiled code."""

    def __init__(self, dtype):
        self.dtype = dtype
        super().__init__(name=f"Lanes({dtype})")


floats, wholes = Lanes(types.float32), Lanes(types.int32)


def _lanes_of(dtype):
    return floats if dtype == types.float32 else wholes


def _vector_of(dtype):
    return _FLOATS if dtype == types.float32 else _WHOLES


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager, kind):
        super().__init__(manager, kind, _vector_of(kind.dtype))


def _call(builder, name, result, arguments, flags=_FLAGS):
    kinds = [argument.type for argument in arguments]
    function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(result, kinds), name)
    return builder.call(function, arguments, fastmath=flags)


def _splat(builder, value):
    vector = ir.VectorType(value.type, WIDTH)
    empty = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(empty, value, ir.Constant(_INT32, 0))
    return builder.shuffle_vector(first, empty, ir.Constant(ir.VectorType(_INT32, WIDTH), [0] * WIDTH))


def _address(context, builder, array_type, array, place):
    data = make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [place]), _vector_of(array_type.dtype).as_pointer())


@intrinsic
def _load(typing_context, array, place):
    def generate(context, builder, signature, arguments):
        address = _address(context, builder, signature.args[0], *arguments)
        return builder.load(address, align=4)

    return _lanes_of(array.dtype)(array, types.int64), generate


@intrinsic
def _store(typing_context, array, place, lanes):
    def generate(context, builder, signature, arguments):
        address = _address(context, builder, signature.args[0], *arguments[:2])
        builder.store(arguments[2], address, align=4)
        return context.get_dummy_value()

    return types.none(array, types.int64, _lanes_of(array.dtype)), generate


@intrinsic
def _everywhere(typing_context, value):
    def generate(context, builder, signature, arguments):
        return _splat(builder, arguments[0])

    return _lanes_of(value)(value), generate


@intrinsic
def _spread(typing_context, array, place):
    def generate(context, builder, signature, arguments):
        data = make_array(signature.args[0])(context, builder, arguments[0]).data
        return _splat(builder, builder.load(builder.gep(data, [arguments[1]])))

    return _lanes_of(array.dtype)(array, types.int64), generate


def _of_two(for_floats, for_wholes):
    """An operation of two lanes; ``for_floats`` and ``for_wholes`` write its instruction."""

    @intrinsic
    def operation(typing_context, a, b):
        write = for_floats if a == floats else for_wholes

        def generate(context, builder, signature, arguments):
            return write(builder, *arguments)

        return a(a, a), generate

    return operation


def _extremum(name):
    of_two = _of_two(
        lambda builder, a, b: _call(builder, f"llvm.{name}num.v16f32", _FLOATS, [a, b]),
        lambda builder, a, b: _call(builder, f"llvm.s{name}.v16i32", _WHOLES, [a, b], flags=()),
    )

    @intrinsic
    def of_one(typing_context, lanes):
        def generate(context, builder, signature, arguments):
            return _call(builder, f"llvm.vector.reduce.f{name}.v16f32", ir.FloatType(), list(arguments))

        return types.float32(floats), generate

    return of_two, of_one


@intrinsic
def _add_product(typing_context, total, a, b):
    def generate(context, builder, signature, arguments):
        total, a, b = arguments
        return _call(builder, "llvm.fmuladd.v16f32", _FLOATS, [a, b, total])

    return floats(floats, floats, floats), generate


_HALVES, _PRODUCTS = ir.VectorType(ir.IntType(16), 2 * WIDTH), ir.VectorType(_INT32, 2 * WIDTH)


def _every_second(builder, vector, first):
    places = ir.Constant(_WHOLES, list(range(first, 2 * WIDTH, 2)))
    return builder.shuffle_vector(vector, ir.Constant(vector.type, ir.Undefined), places)


def _pair_products(builder, a, b):
    """LLVM from version 20 on makes one instruction of this where there is one, and orders it better than by name."""
    product = builder.mul(builder.sext(a, _PRODUCTS), builder.sext(b, _PRODUCTS))
    return builder.add(_every_second(builder, product, 0), _every_second(builder, product, 1))


def _pair_products_avx2(builder, a, b):
    """The instruction by name, on halves of the lanes, for older LLVM, which misses it."""
    result = ir.VectorType(_INT32, WIDTH // 2)

    def part(vector, start):
        places = ir.Constant(ir.VectorType(_INT32, WIDTH), list(range(start, start + WIDTH)))
        return builder.shuffle_vector(vector, ir.Constant(_HALVES, ir.Undefined), places)

    low, high = (
        _call(builder, "llvm.x86.avx2.pmadd.wd", result, [part(a, start), part(b, start)], flags=())
        for start in (0, WIDTH)
    )
    return builder.shuffle_vector(low, high, ir.Constant(_WHOLES, list(range(WIDTH))))


@intrinsic
def _take_pair_products(typing_context, total, a, b):
    def generate(context, builder, signature, arguments):
        features = str(context.codegen().magic_tuple()[2])  # of the processor that Numba compiles for
        by_name = llvm_version_info[0] < 20 and "+avx2" in features
        multiply = _pair_products_avx2 if by_name else _pair_products
        a, b = (builder.bitcast(lanes, _HALVES) for lanes in arguments[1:])
        return builder.sub(arguments[0], multiply(builder, a, b))

    return wholes(wholes, wholes, wholes), generate


@intrinsic
def _to_floats(typing_context, lanes):
    def generate(context, builder, signature, arguments):
        return builder.sitofp(arguments[0], _FLOATS)

    return floats(wholes), generate


def _compare(builder, operator, lanes, limit):
    limit = _splat(builder, limit)
    if lanes.type == _FLOATS:
        return builder.bitcast(builder.fcmp_ordered(operator, lanes, limit), _BITS)
    return builder.bitcast(builder.icmp_signed(operator, lanes, limit), _BITS)


def _comparison(operator):
    @intrinsic
    def which(typing_context, lanes, limit):
        def generate(context, builder, signature, arguments):
            return builder.zext(_compare(builder, operator, *arguments), _INT)

        return types.int64(lanes, lanes.dtype), generate

    return which


def _some(builder, bits):
    return builder.zext(builder.icmp_unsigned("!=", bits, ir.Constant(_BITS, 0)), _INT)


@intrinsic
def _any_at_least(typing_context, lanes, limit):
    def generate(context, builder, signature, arguments):
        return _some(builder, _compare(builder, ">=", *arguments))

    return types.int64(lanes, lanes.dtype), generate


@intrinsic
def _any_negative(typing_context, lanes):
    def generate(context, builder, signature, arguments):
        return _some(builder, _compare(builder, "<", arguments[0], ir.Constant(_INT32, 0)))

    return types.int64(wholes), generate


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
        return np.full(WIDTH, value)

    def spread(array, place):
        return everywhere(array[place])

    add, subtract, either = np.add, np.subtract, np.bitwise_or

    def add_product(total, a, b):
        return total + a * b

    def take_pair_products(total, a, b):
        products = a.view(np.int16).astype(np.int32) * b.view(np.int16).astype(np.int32)
        return total - products[::2] - products[1::2]

    def to_floats(lanes):
        return lanes.astype(np.float32)

    minimum, maximum, least, largest = np.minimum, np.maximum, np.min, np.max

    def which_at_most(lanes, limit):
        return _plain_which(lanes <= limit)

    def which_at_least(lanes, limit):
        return _plain_which(lanes >= limit)

    def any_at_least(lanes, limit):
        return int(np.any(lanes >= limit))

    def any_negative(lanes):
        return int(np.any(lanes < 0))

    def lowest(mask):
        return int(mask & -mask).bit_length() - 1
else:
    # load(array, place): array[place : place + 16]; store(array, place, lanes) is its reverse.
    load, store = _load, _store
    # everywhere(value): sixteen times the value.
    everywhere = _everywhere
    # spread(array, place): sixteen times array[place].
    spread = _spread
    add = _of_two(lambda builder, a, b: builder.fadd(a, b), lambda builder, a, b: builder.add(a, b))
    subtract = _of_two(lambda builder, a, b: builder.fsub(a, b), lambda builder, a, b: builder.sub(a, b))
    # either(a, b): bit by bit, so that it is negative where a or b is. Of whole numbers.
    either = _of_two(None, lambda builder, a, b: builder.or_(a, b))
    # add_product(total, a, b): total + a * b. Of floats.
    add_product = _add_product
    # take_pair_products(total, a, b): a and b are sixteen pairs of int16; total - (a0 * b0 + a1 * b1), pair by pair.
    take_pair_products = _take_pair_products
    # to_floats(a): whole numbers as float32.
    to_floats = _to_floats
    # minimum(a, b), maximum(a, b): lane by lane; least(a), largest(a): over the lanes, of floats.
    minimum, least = _extremum("min")
    maximum, largest = _extremum("max")
    # which_at_most(a, limit): an integer whose bit i says that lane i is at most the limit.
    which_at_most, which_at_least = _comparison("<="), _comparison(">=")
    # any_at_least(a, limit), any_negative(a): 1 if some lane is, else 0. any_negative is of whole numbers.
    any_at_least, any_negative = _any_at_least, _any_negative
    # lowest(mask): the number of the lowest bit set.
    lowest = _lowest
