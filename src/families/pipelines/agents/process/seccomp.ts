/**
 * The calls that workloads may not make: those that need no capability, and reach past the sandbox's namespaces or into parts of
 * the kernel that programs of a build do not need. Calls that need a capability are refused by the lack of it. A few of these are listed
 * all the same, as in the lists of Flatpak and Docker: their flaws were ways out. `ptrace` is permitted, as Docker does: debuggers and
 * leak checkers need it, and it reaches no process outside of the sandbox. Pure.
 */

/** Callers do without a call that fails with ENOSYS. */
const [EPERM, ENOSYS, EAFNOSUPPORT] = [1, 38, 97]

/** Numbers of a call on x86-64 and on arm64; null: it has none there. */
type Numbers = readonly [x64: number | null, arm64: number | null]
const same = (number: number): Numbers => [number, number]

const REFUSED: Readonly<Record<string, readonly [...numbers: Numbers, errno: number]>> = {
  // Keyrings are those of the user, in whatever sandbox.
  ...{ add_key: [248, 217, EPERM], request_key: [249, 218, EPERM], keyctl: [250, 219, EPERM] },
  // Programs and events within the kernel, and pauses of it.
  ...{ bpf: [321, 280, EPERM], perf_event_open: [298, 241, EPERM], userfaultfd: [323, 282, EPERM] },
  ...{ io_uring_setup: [...same(425), ENOSYS], io_uring_enter: [...same(426), ENOSYS] },
  ...{ io_uring_register: [...same(427), ENOSYS] },
  // Namespaces and mounts. The flags of clone3 lie in memory, where no filter sees them.
  ...{ clone3: [...same(435), ENOSYS], setns: [308, 268, EPERM] },
  ...{ mount: [165, 40, EPERM], umount2: [166, 39, EPERM], pivot_root: [155, 41, EPERM] },
  ...{ open_tree: [...same(428), ENOSYS], move_mount: [...same(429), ENOSYS], fsopen: [...same(430), ENOSYS] },
  ...{ fsconfig: [...same(431), ENOSYS], fsmount: [...same(432), ENOSYS], fspick: [...same(433), ENOSYS] },
  ...{ mount_setattr: [...same(442), ENOSYS], open_tree_attr: [...same(467), ENOSYS] },
  ...{ open_by_handle_at: [304, 265, EPERM] },
  // The machine itself: its log, which may be open to all, and its kernel.
  ...{ syslog: [103, 116, EPERM], acct: [163, 89, EPERM], quotactl: [179, 60, EPERM] },
  ...{ kexec_load: [246, 104, EPERM], kexec_file_load: [320, 294, EPERM], reboot: [169, 142, EPERM] },
  ...{ init_module: [175, 105, EPERM], finit_module: [313, 273, EPERM], delete_module: [176, 106, EPERM] },
  ...{ swapon: [167, 224, EPERM], swapoff: [168, 225, EPERM] },
  // Calls of old machines.
  ...{
    modify_ldt: [154, null, EPERM],
    uselib: [134, null, EPERM],
    iopl: [172, null, EPERM],
    ioperm: [173, null, EPERM],
  },
}

const [CLONE_NEWUSER, TIOCSTI, TIOCLINUX] = [0x10000000, 0x5412, 0x541c]
/** AF_UNSPEC, AF_UNIX, AF_INET, AF_INET6 and AF_NETLINK. Others, such as AF_VSOCK, are of no network namespace, or seldom used. */
const FAMILIES = [0, 1, 2, 10, 16]

const ALLOW = 0x7fff0000
const errno = (code: number): number => 0x00050000 + code

/** One instruction of classic BPF, as the kernel has it: code, jumps if true and if false, and its operand. */
type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, operand: number]
const load = (offset: number): Instruction => [0x20, 0, 0, offset]
const end = (action: number): Instruction => [0x06, 0, 0, action]
/** The action follows it, and is skipped unless the test holds. */
const [ifEqual, ifAny] = [0x15, 0x45].map((code) => (operand: number, action: number): readonly Instruction[] => [
  [code, 0, 1, operand],
  end(action),
]) as [Test, Test]
type Test = (operand: number, action: number) => readonly Instruction[]
/** The low half of an argument: all that are judged are of 32 bits. */
const argument = (index: number): Instruction => load(16 + 8 * index)
const [NUMBER, ARCHITECTURE] = [load(0), load(4)]

interface Judged {
  readonly numbers: Numbers
  readonly argument: number
  readonly tests: readonly (readonly Instruction[])[]
  readonly otherwise: number
}
const families = {
  argument: 0,
  tests: FAMILIES.map((family) => ifEqual(family, ALLOW)),
  otherwise: errno(EAFNOSUPPORT),
}
const newUser = { argument: 0, tests: [ifAny(CLONE_NEWUSER, errno(EPERM))], otherwise: ALLOW }
/** Refused or permitted by an argument. */
const JUDGED: readonly Judged[] = [
  { numbers: [56, 220], ...newUser },
  { numbers: [272, 97], ...newUser },
  { numbers: [41, 198], ...families },
  { numbers: [53, 199], ...families },
  {
    ...{ numbers: [16, 29], argument: 1, otherwise: ALLOW },
    // They type into a terminal.
    tests: [TIOCSTI, TIOCLINUX].map((request) => ifEqual(request, errno(EPERM))),
  },
]

/** As the kernel names them (AUDIT_ARCH_…). A program may make calls of others on the same machine. */
const ARCHITECTURES = { x64: 0xc000003e, arm64: 0xc00000b7 } as const
/** The bit of the numbers of x32, which x86-64 has besides its own. */
const X32 = 0x40000000

/** The filter for bubblewrap, a program that the kernel runs at each call; null: the calls of this machine are not known here. */
export function seccompFilter(machine: string): Buffer | null {
  if (machine !== 'x64' && machine !== 'arm64') return null
  const at = machine === 'x64' ? 0 : 1
  const program: readonly Instruction[] = [
    ARCHITECTURE,
    [0x15, 1, 0, ARCHITECTURES[machine]],
    end(errno(ENOSYS)),
    NUMBER,
    ...ifAny(X32, errno(ENOSYS)),
    ...Object.values(REFUSED).flatMap((call) => {
      const number = call[at]
      return typeof number === 'number' ? ifEqual(number, errno(call[2])) : []
    }),
    ...JUDGED.flatMap(({ numbers, argument: index, tests, otherwise }): readonly Instruction[] => {
      const judge = [argument(index), ...tests.flat(), end(otherwise)]
      return [[0x15, 0, judge.length, numbers[at] ?? 0], ...judge]
    }),
    end(ALLOW),
  ]
  const bytes = Buffer.alloc(program.length * 8)
  for (const [i, [code, ifTrue, ifFalse, operand]] of program.entries()) {
    bytes.writeUInt16LE(code, 8 * i)
    bytes.writeUInt8(ifTrue, 8 * i + 2)
    bytes.writeUInt8(ifFalse, 8 * i + 3)
    bytes.writeUInt32LE(operand, 8 * i + 4)
  }
  return bytes
}
