import { randomFillSync } from 'node:crypto'
import { v7 } from 'uuid'
import type { System } from './core/ports/system.ts'

/** Random bytes are drawn in blocks of this size, since each call takes microseconds, however few bytes it draws. */
const BLOCK = 8_192
let block = Buffer.alloc(0)

/** Returns bytes that are used once: the block forgets them. */
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

/** Ids of one millisecond count up from a random number with room to grow, so ids grow even if the clock does not. */
function id(now: number): string {
  if (now > lastMs) {
    lastMs = now
    count = random(4).readUInt32BE() >>> 1
  } else {
    count += 1
  }
  return v7({ msecs: lastMs, seq: count, random: random(16) })
}

/** Another time in place of that of the database's clock, which it gets. */
export type MovedTime = (now: Date) => Date

/**
 * A real clock, ids that grow with it, and randomness.
 * @param moved statements take this time as well; absent outside of tests
 */
export function systemOf(clock: Pick<System, 'now'>, moved?: MovedTime): System {
  const now = () => (moved ? moved(clock.now()) : clock.now())
  return {
    now,
    get fixedTime() {
      return moved ? now() : null
    },
    id: () => id(now().getTime()),
    random: () => Math.random(),
    secret: random,
  }
}
