"""All that kernels use of Numba beyond its documentation, in one place: compiler options, the cache, vector types.

A Numba that was not tested with microagg, or one that has moved something that is used here, makes the import of this
module fail. Kernels then do without it: see `jit`. Everything here makes kernels faster or quicker to start; nothing
changes a result.

Vectors are sixteen float32 or sixteen int32. A vector lives inside one compiled function: it is not passed to another,
returned or stored except by `store`. Rounding of float32 may differ between processors (a multiply-add is fused where
that is fast); the filter's slack allows for it and results never depend on it. Whole numbers wrap around. What each
operation does is written in `simd`.
"""

from __future__ import annotations

import os
from pathlib import Path

import llvmlite
import numba
from llvmlite import ir
from llvmlite.binding import llvm_version_info
from numba import types
from numba.core import cgutils
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.cpu import CPUTargetOptions
from numba.core.datamodel import models
from numba.extending import intrinsic, register_model
from numba.np.arrayobj import make_array

from microagg._kernels.first_use import say_compiling
from microagg._kernels.sources import KernelSources, remove_old_folders

# The same range as in pyproject.toml: the first version, and the first that is not tested.
TESTED_FROM, TESTED_BELOW = (0, 60), (0, 69)
WIDTH = 16

# --- compiler options ------------------------------------------------------------------------------------------------

# Kernels that allocate nothing need no reference counts, and nobody calls them from C.
ALLOCATE_NOTHING = {"no_cfunc_wrapper": True, "_nrt": False}
NOT_FROM_PYTHON = {"no_cpython_wrapper": True}
FORCE_INLINE = {"forceinline": True}


def check_this_numba(version: str) -> None:
    """Raise ImportError if this Numba was not tested, or does not know an option."""
    major, minor = version.split(".")[:2]
    if not TESTED_FROM <= (int(major), int(minor)) < TESTED_BELOW:
        tested = f"{TESTED_FROM[0]}.{TESTED_FROM[1]} to below {TESTED_BELOW[0]}.{TESTED_BELOW[1]}"
        raise ImportError(f"Numba {version} is not one of the tested versions, {tested}")
    for option in (*ALLOCATE_NOTHING, *NOT_FROM_PYTHON, *FORCE_INLINE):
        if not hasattr(CPUTargetOptions, option):
            raise ImportError(f"Numba {version} has no option {option!r}")


check_this_numba(numba.__version__)

# --- the cache -------------------------------------------------------------------------------------------------------

SOURCES = KernelSources(
    Path(__file__).parents[1], built_with=f"numba {numba.__version__}, llvmlite {llvmlite.__version__}"
)


class _DigestLocator:
    """Where Numba would cache a kernel, and there in a folder named after the digest of all kernel sources."""

    def __init__(self, locator):
        self._locator = locator

    def get_cache_path(self):
        return str(Path(self._locator.get_cache_path(), str(SOURCES.folder)))

    def ensure_cache_path(self):
        folder = Path(self.get_cache_path())
        is_new = not folder.is_dir()
        folder.mkdir(parents=True, exist_ok=True)
        if is_new:
            remove_old_folders(folder)

    def get_source_stamp(self):
        return self._locator.get_source_stamp()

    def get_disambiguator(self):
        return self._locator.get_disambiguator()


class _DigestCacheImpl(CompileResultCacheImpl):  # type: ignore[misc]
    @property
    def locator(self):
        return _DigestLocator(self._locator)


class KernelCache(FunctionCache):  # type: ignore[misc]
    """Numba's cache of one kernel; it neither loads nor saves anything once a kernel source has changed."""

    _impl_class = _DigestCacheImpl
    _used: set[str] = set()  # noqa: RUF012 - one for all kernels

    def load_overload(self, sig, target_context):
        found = super().load_overload(sig, target_context) if SOURCES.are_unchanged() else None
        if found is None:
            say_compiling(self._py_func.__name__)
        elif self._cache_path not in self._used:
            self._used.add(self._cache_path)
            mark_as_used(self._cache_path)
        return found

    def save_overload(self, sig, data):
        if SOURCES.are_unchanged():
            super().save_overload(sig, data)

    def is_filled(self, target_context, is_wanted):
        """Whether a version of the kernel for this processor, with argument types that are wanted, is cached."""
        processor = target_context.codegen().magic_tuple()
        return SOURCES.are_unchanged() and any(
            kept_for == processor and is_wanted(signature) and Path(self._cache_path, name).exists()
            for (signature, kept_for, _), name in self._cache_file._load_index().items()
        )


def mark_as_used(folder):
    """Note the time, by which old folders are removed; a folder that cannot be written to is not removed either."""
    if os.access(folder, os.W_OK):
        os.utime(folder)


def enable_cache(kernel):
    """Cache a kernel; False if there is no folder where that is possible."""
    if SOURCES.folder is None:
        return False
    try:
        kernel._cache = KernelCache(kernel.py_func)
    except RuntimeError:  # Numba found no folder
        return False
    return True


def is_cached(kernel, is_wanted):
    """Whether a kernel is in the cache, compiled for this processor from the sources as they are."""
    cache = kernel._cache
    return isinstance(cache, KernelCache) and cache.is_filled(kernel.targetctx, is_wanted)


# --- vectors ---------------------------------------------------------------------------------------------------------

_INT = ir.IntType(64)
_BITS = ir.IntType(WIDTH)
_INT32 = ir.IntType(32)
_FLOATS, _WHOLES = ir.VectorType(ir.FloatType(), WIDTH), ir.VectorType(_INT32, WIDTH)
# No operand is ever NaN, and the sign of zero does not matter: minima are then one instruction.
_FLAGS = ("nnan", "nsz")


class Vector(types.Type):  # type: ignore[misc]
    """Type of sixteen float32, or sixteen int32, in compiled code."""

    def __init__(self, dtype):
        self.dtype = dtype
        super().__init__(name=f"Vector({dtype})")


floats, wholes = Vector(types.float32), Vector(types.int32)


def _vector_type(dtype):
    return floats if dtype == types.float32 else wholes


def _llvm_type(dtype):
    return _FLOATS if dtype == types.float32 else _WHOLES


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager, kind):
        super().__init__(manager, kind, _llvm_type(kind.dtype))


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
    return builder.bitcast(builder.gep(data, [place]), _llvm_type(array_type.dtype).as_pointer())


@intrinsic
def load(typing_context, array, place):
    def generate(context, builder, signature, arguments):
        address = _address(context, builder, signature.args[0], *arguments)
        return builder.load(address, align=4)

    return _vector_type(array.dtype)(array, types.int64), generate


@intrinsic
def store(typing_context, array, place, vector):
    def generate(context, builder, signature, arguments):
        address = _address(context, builder, signature.args[0], *arguments[:2])
        builder.store(arguments[2], address, align=4)
        return context.get_dummy_value()

    return types.none(array, types.int64, _vector_type(array.dtype)), generate


@intrinsic
def broadcast(typing_context, value):
    def generate(context, builder, signature, arguments):
        return _splat(builder, arguments[0])

    return _vector_type(value)(value), generate


@intrinsic
def broadcast_element(typing_context, array, place):
    def generate(context, builder, signature, arguments):
        data = make_array(signature.args[0])(context, builder, arguments[0]).data
        return _splat(builder, builder.load(builder.gep(data, [arguments[1]])))

    return _vector_type(array.dtype)(array, types.int64), generate


def _make_operation(for_floats, for_wholes):
    """An operation of two vectors; ``for_floats`` and ``for_wholes`` write its instruction."""

    @intrinsic
    def operation(typing_context, a, b):
        write = for_floats if a == floats else for_wholes

        def generate(context, builder, signature, arguments):
            return write(builder, *arguments)

        return a(a, a), generate

    return operation


def _make_extremum(name):
    of_two = _make_operation(
        lambda builder, a, b: _call(builder, f"llvm.{name}num.v16f32", _FLOATS, [a, b]),
        lambda builder, a, b: _call(builder, f"llvm.s{name}.v16i32", _WHOLES, [a, b], flags=()),
    )

    @intrinsic
    def of_one(typing_context, vector):
        def generate(context, builder, signature, arguments):
            return _call(builder, f"llvm.vector.reduce.f{name}.v16f32", ir.FloatType(), list(arguments))

        return types.float32(floats), generate

    return of_two, of_one


add = _make_operation(lambda builder, a, b: builder.fadd(a, b), lambda builder, a, b: builder.add(a, b))
subtract = _make_operation(lambda builder, a, b: builder.fsub(a, b), lambda builder, a, b: builder.sub(a, b))
bitwise_or = _make_operation(None, lambda builder, a, b: builder.or_(a, b))
minimum, reduce_min = _make_extremum("min")
maximum, reduce_max = _make_extremum("max")


@intrinsic
def add_product(typing_context, total, a, b):
    def generate(context, builder, signature, arguments):
        total, a, b = arguments
        return _call(builder, "llvm.fmuladd.v16f32", _FLOATS, [a, b, total])

    return floats(floats, floats, floats), generate


_HALVES, _PRODUCTS = ir.VectorType(ir.IntType(16), 2 * WIDTH), ir.VectorType(_INT32, 2 * WIDTH)


def _every_second(builder, vector, first):
    places = ir.Constant(_WHOLES, list(range(first, 2 * WIDTH, 2)))
    return builder.shuffle_vector(vector, ir.Constant(vector.type, ir.Undefined), places)


def _multiply_pairs(builder, a, b):
    """LLVM from version 20 on makes one instruction of this where there is one, and orders it better than by name."""
    product = builder.mul(builder.sext(a, _PRODUCTS), builder.sext(b, _PRODUCTS))
    return builder.add(_every_second(builder, product, 0), _every_second(builder, product, 1))


def _multiply_pairs_avx2(builder, a, b):
    """The instruction by name, on halves of the vectors, for older LLVM, which misses it."""
    result = ir.VectorType(_INT32, WIDTH // 2)

    def take_half(vector, start):
        places = ir.Constant(ir.VectorType(_INT32, WIDTH), list(range(start, start + WIDTH)))
        return builder.shuffle_vector(vector, ir.Constant(_HALVES, ir.Undefined), places)

    low, high = (
        _call(builder, "llvm.x86.avx2.pmadd.wd", result, [take_half(a, start), take_half(b, start)], flags=())
        for start in (0, WIDTH)
    )
    return builder.shuffle_vector(low, high, ir.Constant(_WHOLES, list(range(WIDTH))))


@intrinsic
def subtract_pair_products(typing_context, total, a, b):
    def generate(context, builder, signature, arguments):
        features = str(context.codegen().magic_tuple()[2])  # of the processor that Numba compiles for
        by_name = llvm_version_info[0] < 20 and "+avx2" in features
        multiply = _multiply_pairs_avx2 if by_name else _multiply_pairs
        a, b = (builder.bitcast(vector, _HALVES) for vector in arguments[1:])
        return builder.sub(arguments[0], multiply(builder, a, b))

    return wholes(wholes, wholes, wholes), generate


@intrinsic
def to_floats(typing_context, vector):
    def generate(context, builder, signature, arguments):
        return builder.sitofp(arguments[0], _FLOATS)

    return floats(wholes), generate


def _compare(builder, operator, vector, limit):
    limit = _splat(builder, limit)
    if vector.type == _FLOATS:
        return builder.bitcast(builder.fcmp_ordered(operator, vector, limit), _BITS)
    return builder.bitcast(builder.icmp_signed(operator, vector, limit), _BITS)


def _make_comparison(operator):
    @intrinsic
    def compare(typing_context, vector, limit):
        def generate(context, builder, signature, arguments):
            return builder.zext(_compare(builder, operator, *arguments), _INT)

        return types.int64(vector, vector.dtype), generate

    return compare


mask_at_most, mask_at_least = _make_comparison("<="), _make_comparison(">=")


@intrinsic
def any_negative(typing_context, vector):
    def generate(context, builder, signature, arguments):
        bits = _compare(builder, "<", arguments[0], ir.Constant(_INT32, 0))
        return builder.zext(builder.icmp_unsigned("!=", bits, ir.Constant(_BITS, 0)), _INT)

    return types.int64(wholes), generate


@intrinsic
def lowest_bit(typing_context, mask):
    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), generate
