"""The frame evaluation hook itself, in LLVM's language, because it can't be Python.

CPython calls the hook for every Python frame, in place of its own evaluator. A hook written in Python would be a frame
too, and would call itself for ever. So it is a page of LLVM instructions, which llvmlite turns into machine code (Numba
brings llvmlite along). It looks at one word that is kept beside each code object, and does what the word says:

    nothing there    ask `judge(function)` for the word, keep it, go on
    PASS             let the interpreter evaluate the frame, as always
    OFF              the same, with the hook off until the frame ends
    CAPTURE          call `enter(function, *slots)`; its result is the frame's, unless it is RUN_AS_IS

`judge` and `enter` are Python functions, kept in a record that is set for one thread at a time; a thread without one
only passes. `hook_text` is the program for a version of Python; the versions differ in where a frame keeps things
(frame_evaluation/layout.py), in who takes a frame off the stack, and in how deep calls may go.

>>> print(hook_text((3, 11), "linux").partition("define ptr @untagged")[2].partition("}")[0])
(ptr %place) alwaysinline {
  %tagged = load i64, ptr %place
  %bits = and i64 %tagged, -4
  %pointer = inttoptr i64 %bits to ptr
  ret ptr %pointer
<BLANKLINE>

Source: PEP 523; torch/csrc/dynamo/eval_frame.c does the same in C.
"""

from __future__ import annotations

import re

from minitorch_compile.dynamo.frame_evaluation.layout import LAYOUTS
from minitorch_compile.frame_marks import CAPTURE, OFF, PASS

PASS_HERE = 4  # one record's opinion, as CAPTURE is; PASS and OFF everybody's

HOOK = """
@key = external global i64                      ; which thread-specific value is ours
@index = external global i64                    ; which of a code object's extra words is ours
@evaluator = external global ptr                ; who evaluated frames before
@RUN_AS_IS = external global i8
@RuntimeError = external global i8

%thread_record = type {{ptr, i64}}              ; the callback, and how far down this thread's stack may grow
%callback_record = type {{ptr, ptr, i64}}       ; enter, judge, owner

declare ptr @_PyEval_EvalFrameDefault(ptr, ptr, i32)
declare ptr @pthread_getspecific(i64)
declare i32 @pthread_setspecific(i64, ptr)
declare i64 @pthread_self()
declare ptr @calloc(i64, i64)
declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)
declare i32 @get_extra(ptr, i64, ptr)
declare i32 @put_extra(ptr, i64, ptr)
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare i64 @PyLong_AsLongLong(ptr)
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)

define ptr @hook(ptr %thread, ptr %frame, i32 %throw) {{
  %word_place = alloca i64
  store i64 0, ptr %word_place
  %me = call ptr @this_thread()
  %callback = load ptr, ptr %me
  %is_off = icmp eq ptr %callback, null
  %is_throw = icmp ne i32 %throw, 0             ; an exception thrown into a generator is not a call
  %not_asked = or i1 %is_off, %is_throw
  br i1 %not_asked, label %pass, label %read_word
read_word:
  %code_place = getelementptr i8, ptr %frame, i64 {CODE}
  %code = call ptr @untagged(ptr %code_place)
  %extra = load i64, ptr @index
  call i32 @get_extra(ptr %code, i64 %extra, ptr %word_place)
  %word = load i64, ptr %word_place
  %kind = and i64 %word, 255
  %passes = icmp eq i64 %kind, {PASS}
  br i1 %passes, label %pass, label %decide
decide:
  %result = tail call ptr @decide(ptr %thread, ptr %frame, ptr %me, i64 %word)
  ret ptr %result
pass:
  %plain = tail call ptr @evaluate(ptr %thread, ptr %frame, i32 %throw, ptr %me)
  ret ptr %plain
}}

define ptr @decide(ptr %thread, ptr %frame, ptr %me, i64 %word) {{
  %callback = load ptr, ptr %me
  %kind = and i64 %word, 255
  %is_off = icmp eq i64 %kind, {OFF}
  br i1 %is_off, label %off, label %whose
whose:
  %owner = lshr i64 %word, 32
  %owner_place = getelementptr %callback_record, ptr %callback, i32 0, i32 2
  %asker = load i64, ptr %owner_place
  %is_his = icmp eq i64 %owner, %asker
  br i1 %is_his, label %known, label %ask
ask:
  %answer = call i64 @ask(ptr %frame, ptr %me)
  %raised = icmp eq i64 %answer, 0
  br i1 %raised, label %fail, label %known
known:
  %word_now = phi i64 [%word, %whose], [%answer, %ask]
  %kind_now = and i64 %word_now, 255
  switch i64 %kind_now, label %pass [i64 {OFF}, label %off
                                     i64 {CAPTURE}, label %capture]
off:
  store ptr null, ptr %me
  %unhooked = call ptr @evaluate(ptr %thread, ptr %frame, i32 0, ptr %me)
  store ptr %callback, ptr %me
  ret ptr %unhooked
capture:
  %room = call i64 @room(ptr %me)
  %is_full = icmp eq i64 %room, 0
  br i1 %is_full, label %pass, label %stop
stop:
  %result = call ptr @enter(ptr %frame, ptr %callback, i64 %word_now)
  %is_as_is = icmp eq ptr %result, @RUN_AS_IS
  br i1 %is_as_is, label %as_is, label %done
as_is:
  call void @Py_DecRef(ptr %result)
  br label %pass
done:
  call void @leave(ptr %thread, ptr %frame)
  ret ptr %result                               ; null if enter raised
fail:
  call void @leave(ptr %thread, ptr %frame)
  ret ptr null
pass:
  %plain = tail call ptr @evaluate(ptr %thread, ptr %frame, i32 0, ptr %me)
  ret ptr %plain
}}

; judge(function), with the hook off; its answer is kept with the code object. 0 if it raised.
define i64 @ask(ptr %frame, ptr %me) {{
  %arguments = alloca ptr
  %callback = load ptr, ptr %me
  %function_place = getelementptr i8, ptr %frame, i64 {FUNCTION}
  %function = call ptr @untagged(ptr %function_place)
  store ptr %function, ptr %arguments
  %judge_place = getelementptr %callback_record, ptr %callback, i32 0, i32 1
  %judge = load ptr, ptr %judge_place
  %is_retired = icmp eq ptr %judge, null
  br i1 %is_retired, label %pass, label %call
pass:
  ret i64 {PASS}
call:
  store ptr null, ptr %me
  %number = call ptr @PyObject_Vectorcall(ptr %judge, ptr %arguments, i64 1, ptr null)
  store ptr %callback, ptr %me
  %has_raised = icmp eq ptr %number, null
  br i1 %has_raised, label %bad, label %keep
keep:
  %word = call i64 @PyLong_AsLongLong(ptr %number)
  call void @Py_DecRef(ptr %number)
  %as_pointer = inttoptr i64 %word to ptr
  %extra = load i64, ptr @index
  %code_place = getelementptr i8, ptr %frame, i64 {CODE}
  %code = call ptr @untagged(ptr %code_place)
  %failed = call i32 @put_extra(ptr %code, i64 %extra, ptr %as_pointer)
  %no_memory = icmp ne i32 %failed, 0
  br i1 %no_memory, label %bad, label %good
good:
  ret i64 %word
bad:
  ret i64 0
}}

; enter(function, *slots), as long as the stack has room. At the start of a frame its first slots hold the arguments.
define ptr @enter(ptr %frame, ptr %callback, i64 %word) {{
begin:
  %enter_function = load ptr, ptr %callback
  %is_retired = icmp eq ptr %enter_function, null
  br i1 %is_retired, label %as_is, label %collect
as_is:
  call void @Py_IncRef(ptr @RUN_AS_IS)
  ret ptr @RUN_AS_IS
collect:
  %shifted = lshr i64 %word, 8
  %count = and i64 %shifted, 65535
  %total = add i64 %count, 1
  %arguments = alloca ptr, i64 %total
  %function_place = getelementptr i8, ptr %frame, i64 {FUNCTION}
  %function = call ptr @untagged(ptr %function_place)
  store ptr %function, ptr %arguments
  %first_slot = getelementptr i8, ptr %frame, i64 {SLOTS}
  br label %loop
loop:
  %i = phi i64 [0, %collect], [%next, %keep]
  %is_done = icmp eq i64 %i, %count
  br i1 %is_done, label %call, label %copy
copy:
  %slot = getelementptr ptr, ptr %first_slot, i64 %i
  %value = call ptr @untagged(ptr %slot)
  %is_unbound = icmp eq ptr %value, null        ; more slots were asked for than the call has filled
  br i1 %is_unbound, label %as_is, label %keep
keep:
  %next = add i64 %i, 1
  %place = getelementptr ptr, ptr %arguments, i64 %next
  store ptr %value, ptr %place
  br label %loop
call:
  %result = call ptr @PyObject_Vectorcall(ptr %enter_function, ptr %arguments, i64 %total, ptr null)
  ret ptr %result
}}

define ptr @untagged(ptr %place) alwaysinline {{
  %tagged = load i64, ptr %place
  %bits = and i64 %tagged, -4
  %pointer = inttoptr i64 %bits to ptr
  ret ptr %pointer
}}

; What is kept for this thread; made when it is first seen.
define ptr @this_thread() {{
  %which = load i64, ptr @key
  %known = call ptr @pthread_getspecific(i64 %which)
  %is_known = icmp ne ptr %known, null
  br i1 %is_known, label %old, label %new
old:
  ret ptr %known
new:
  %made = call ptr @calloc(i64 1, i64 16)
  %floor = call i64 @stack_floor()
  %floor_place = getelementptr %thread_record, ptr %made, i32 0, i32 1
  store i64 %floor, ptr %floor_place
  call i32 @pthread_setspecific(i64 %which, ptr %made)
  ret ptr %made
}}

; Bytes that this thread's stack may still grow by.
define i64 @room(ptr %me) {{
  %here = alloca i64
  %top = ptrtoint ptr %here to i64
  %floor_place = getelementptr %thread_record, ptr %me, i32 0, i32 1
  %floor = load i64, ptr %floor_place
  %left = sub i64 %top, %floor
  %room = call i64 @llvm.smax.i64(i64 %left, i64 0)
  ret i64 %room
}}
{STACK_FLOOR}
{EVALUATE}
; The frame ends without having been evaluated. An exception under way stays.
{LEAVE}"""

# The lowest address that a thread's stack may reach, but for an eighth that is left to C.
FLOOR_LINUX = """
declare i32 @pthread_getattr_np(i64, ptr)
declare i32 @pthread_attr_getstack(ptr, ptr, ptr)
declare i32 @pthread_attr_destroy(ptr)
define i64 @stack_floor() {
  %attributes = alloca [16 x i64]
  %low_place = alloca i64
  %size_place = alloca i64
  %self = call i64 @pthread_self()
  call i32 @pthread_getattr_np(i64 %self, ptr %attributes)
  call i32 @pthread_attr_getstack(ptr %attributes, ptr %low_place, ptr %size_place)
  call i32 @pthread_attr_destroy(ptr %attributes)
  %low = load i64, ptr %low_place
  %size = load i64, ptr %size_place
  %eighth = lshr i64 %size, 3
  %floor = add i64 %low, %eighth
  ret i64 %floor
}
"""
FLOOR_MACOS = """
declare i64 @pthread_get_stackaddr_np(i64)
declare i64 @pthread_get_stacksize_np(i64)
define i64 @stack_floor() {
  %self = call i64 @pthread_self()
  %top = call i64 @pthread_get_stackaddr_np(i64 %self)
  %size = call i64 @pthread_get_stacksize_np(i64 %self)
  %low = sub i64 %top, %size
  %eighth = lshr i64 %size, 3
  %floor = add i64 %low, %eighth
  ret i64 %floor
}
"""

# A hooked frame takes room on the C stack, which a plain one does not. CPython counts down to a RecursionError, but
# counts the wrong thing: 3.11 the frames, which it allows any number of; 3.12 and 3.13 the calls in C, of which it
# allows 1,500 (3.12.1), whatever the stack has room for. So the count is set to what there is room for while a frame
# is evaluated; at zero CPython raises. From 3.14 on it looks at the stack itself.
EVALUATE_3_11 = """
define ptr @evaluate(ptr %thread, ptr %frame, i32 %throw, ptr %me) {{
  %next = load ptr, ptr @evaluator
  %room = call i64 @room(ptr %me)
  %is_full = icmp eq i64 %room, 0
  br i1 %is_full, label %full, label %free
free:
  %result = tail call ptr %next(ptr %thread, ptr %frame, i32 %throw)
  ret ptr %result
full:
  %count_place = getelementptr i8, ptr %thread, i64 {COUNT}
  %count = load i32, ptr %count_place
  store i32 0, ptr %count_place
  %error = call ptr %next(ptr %thread, ptr %frame, i32 %throw)
  store i32 %count, ptr %count_place
  ret ptr %error
}}
"""
EVALUATE_3_12 = """
define ptr @evaluate(ptr %thread, ptr %frame, i32 %throw, ptr %me) {{
  %next = load ptr, ptr @evaluator
  %room = call i64 @room(ptr %me)
  %units = lshr i64 %room, 10                   ; a call in C takes less than a kilobyte
  %few = call i64 @llvm.smin.i64(i64 %units, i64 10000)
  %allowed = trunc i64 %few to i32
  %count_place = getelementptr i8, ptr %thread, i64 {COUNT}
  %count = load i32, ptr %count_place
  store i32 %allowed, ptr %count_place
  %result = call ptr %next(ptr %thread, ptr %frame, i32 %throw)
  store i32 %count, ptr %count_place
  ret ptr %result
}}
"""
EVALUATE_3_14 = """
define ptr @evaluate(ptr %thread, ptr %frame, i32 %throw, ptr %me) {{
  %next = load ptr, ptr @evaluator
  %result = tail call ptr %next(ptr %thread, ptr %frame, i32 %throw)
  ret ptr %result
}}
"""

# Until 3.11 the caller of a frame takes it off the stack. Later the evaluator does it, and so must a hook. 3.13 has a
# function for it; in 3.12 the evaluator is made to, by throwing an exception into the frame before its first
# instruction, unseen by tracing and profiling.
LEAVE_3_11 = """
define void @leave(ptr %thread, ptr %frame) {
  ret void
}
"""
LEAVE_3_12 = """
declare ptr @PyErr_GetRaisedException()
declare void @PyErr_SetRaisedException(ptr)
declare void @PyThreadState_EnterTracing(ptr)
declare void @PyThreadState_LeaveTracing(ptr)
declare void @PyErr_SetNone(ptr)
declare void @PyErr_Clear()
define void @leave(ptr %thread, ptr %frame) {
  %pending = call ptr @PyErr_GetRaisedException()
  call void @PyThreadState_EnterTracing(ptr %thread)
  call void @PyErr_SetNone(ptr @RuntimeError)
  %nothing = call ptr @_PyEval_EvalFrameDefault(ptr %thread, ptr %frame, i32 1)
  call void @PyErr_Clear()
  call void @PyThreadState_LeaveTracing(ptr %thread)
  call void @PyErr_SetRaisedException(ptr %pending)
  ret void
}
"""
LEAVE_3_13 = """
declare ptr @PyErr_GetRaisedException()
declare void @PyErr_SetRaisedException(ptr)
declare void @_PyEval_FrameClearAndPop(ptr, ptr)
define void @leave(ptr %thread, ptr %frame) {
  %pending = call ptr @PyErr_GetRaisedException()
  call void @_PyEval_FrameClearAndPop(ptr %thread, ptr %frame)
  call void @PyErr_SetRaisedException(ptr %pending)
  ret void
}
"""

VERSIONS = {
    (3, 11): (EVALUATE_3_11, LEAVE_3_11),
    (3, 12): (EVALUATE_3_12, LEAVE_3_12),
    (3, 13): (EVALUATE_3_12, LEAVE_3_13),
    (3, 14): (EVALUATE_3_14, LEAVE_3_13),
}
FLOORS = {"linux": FLOOR_LINUX, "darwin": FLOOR_MACOS}


def hook_text(version: tuple[int, int], system: str) -> str:
    """The hook's instructions for that version of Python on that `sys.platform`. KeyError for others.

    >>> ["_PyEval_FrameClearAndPop" in hook_text((3, minor), "linux") for minor in (11, 12, 13, 14)]
    [False, False, True, True]
    """
    layout = LAYOUTS[version]
    evaluate, leave = VERSIONS[version]
    return HOOK.format(
        PASS=PASS, OFF=OFF, CAPTURE=CAPTURE, CODE=layout.code, FUNCTION=layout.function, SLOTS=layout.slots,
        STACK_FLOOR=FLOORS[system], EVALUATE=evaluate.format(COUNT=layout.count), LEAVE=leave,
    )  # fmt: skip


def functions_of(text: str) -> list[str]:
    """The functions that are declared and not defined: what must be found in this process.

    >>> functions_of("declare ptr @calloc(i64, i64)\\ndeclare i64 @llvm.smax.i64(i64, i64)")
    ['calloc']
    """
    return [name for name in re.findall(r"^declare .*?@([\w.]+)\(", text, re.MULTILINE) if not name.startswith("llvm.")]
