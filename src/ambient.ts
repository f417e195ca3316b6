import { randomBytes } from 'node:crypto'
import { v7 } from 'uuid'
import type { Ambient } from './core/ports.ts'

/** The real clock, ids and randomness. */
export const systemAmbient: Ambient = {
  now: () => new Date(),
  id: () => v7(),
  random: () => Math.random(),
  secret: (bytes) => randomBytes(bytes),
}
