import { expect, test } from 'vitest'
import { seccompFilter } from '../../src/families/pipelines/agents/process/seccomp.ts'

/** Judges calls by the filter of a sandbox as the kernel does: it runs the program on the machine, the number and the arguments. */

const [X64, ARM64, I386] = [0xc000003e, 0xc00000b7, 0x40000003]
const [PERMITTED, EPERM, ENOSYS, EAFNOSUPPORT] = [null, 1, 38, 97]

/** The error of the call; null: it is permitted. */
function judge(filter: Buffer, architecture: number, number: number, args: readonly number[] = []): number | null {
  const data = Buffer.alloc(64)
  data.writeUInt32LE(number, 0)
  data.writeUInt32LE(architecture, 4)
  for (const [i, value] of args.entries()) data.writeBigUInt64LE(BigInt(value), 16 + 8 * i)
  let accumulator = 0
  for (let at = 0; ; at += 8) {
    const [ifTrue, ifFalse, operand] = [filter.readUInt8(at + 2), filter.readUInt8(at + 3), filter.readUInt32LE(at + 4)]
    const jump = (is: boolean): void => {
      at += 8 * (is ? ifTrue : ifFalse)
    }
    switch (filter.readUInt16LE(at)) {
      case 0x20:
        accumulator = data.readUInt32LE(operand)
        break
      case 0x15:
        jump(accumulator === operand)
        break
      case 0x45:
        jump((accumulator & operand) !== 0)
        break
      case 0x06:
        return operand === 0x7fff0000 ? PERMITTED : operand - 0x00050000
      default:
        throw new Error('No instruction.')
    }
  }
}

const NEW_USER = 0x10000000
test.each([
  ['read', [0, 63], [], PERMITTED],
  ['execve', [59, 221], [], PERMITTED],
  ['ptrace', [101, 117], [], PERMITTED],
  ['keyctl', [250, 219], [], EPERM],
  ['bpf', [321, 280], [], EPERM],
  ['perf_event_open', [298, 241], [], EPERM],
  ['userfaultfd', [323, 282], [], EPERM],
  ['io_uring_setup', [425, 425], [], ENOSYS],
  ['mount', [165, 40], [], EPERM],
  ['syslog', [103, 116], [], EPERM],
  ['clone3', [435, 435], [], ENOSYS],
  ['clone of a thread', [56, 220], [0x003d0f00], PERMITTED],
  ['clone with a user namespace', [56, 220], [NEW_USER + 17], EPERM],
  ['unshare of open files', [272, 97], [0x400], PERMITTED],
  ['unshare of the user', [272, 97], [NEW_USER], EPERM],
  ['ioctl TCGETS', [16, 29], [0, 0x5401], PERMITTED],
  ['ioctl TIOCSTI', [16, 29], [0, 0x5412], EPERM],
  // The kernel reads the low half alone.
  ['ioctl TIOCSTI with a high half', [16, 29], [0, 2 ** 32 + 0x5412], EPERM],
  ['a socket of the network', [41, 198], [10], PERMITTED],
  ['a socket to the host of this virtual machine', [41, 198], [40], EAFNOSUPPORT],
  ['a socket of ciphers of the kernel', [41, 198], [38], EAFNOSUPPORT],
] as const)('%s', (_, [x64, arm64], args, expected) => {
  expect(judge(seccompFilter('x64') as Buffer, X64, x64, args)).toBe(expected)
  expect(judge(seccompFilter('arm64') as Buffer, ARM64, arm64, args)).toBe(expected)
})

test('no call of another architecture is permitted, which has other numbers', () => {
  for (const number of [0, 1, 3, 39, 56]) {
    expect(judge(seccompFilter('x64') as Buffer, I386, number)).toBe(ENOSYS)
    // x32 has the architecture of x86-64.
    expect(judge(seccompFilter('x64') as Buffer, X64, 0x40000000 + number)).toBe(ENOSYS)
    expect(judge(seccompFilter('arm64') as Buffer, X64, number)).toBe(ENOSYS)
  }
  expect(seccompFilter('riscv64')).toBeNull()
})
