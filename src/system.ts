import { randomFillSync } from 'node:crypto'
import { v7 } from 'uuid'
import type { System } from './core/ports/system.ts'

/** Drawing random bytes costs microseconds, however few: so they are drawn in blocks of so many. */
const BLOCK = 8_192
let block = Buffer.alloc(0)

/** Bytes that nobody has had before, and nobody has afterwards. */
function random(bytes: number): Buffer {
  if (bytes > BLOCK / 8) return randomFillSync(Buffer.alloc(bytes))
  if (block.length < bytes) block = randomFillSync(Buffer.allocUnsafeSlow(BLOCK))
  const taken = Buffer.from(block.subarray(0, bytes))
  block.fill(0, 0, bytes)
  block = block.subarray(bytes)
  return taken
}

let lastMs = 0
let count = 0

/** Within a millisecond they grow by 1 from a random number that leaves room; so they grow whatever the clock does. */
function id(now: number): string {
  if (now > lastMs) {
    lastMs = now
    count = random(4).readUInt32BE() >>> 1
  } else {
    count += 1
  }
  return v7({ msecs: lastMs, seq: count, random: random(16) })
}

/** A real clock, ids that grow with it, and randomness. */
export const systemOf = (clock: Pick<System, 'now'>): System => ({
  now: () => clock.now(),
  fixedTime: null,
  id: () => id(clock.now().getTime()),
  random: () => Math.random(),
  secret: random,
})
