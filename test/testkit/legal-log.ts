import { expect } from 'vitest'
import type { PhaseChange } from '../../src/client/index.ts'
import { step } from '../../src/core/machine.ts'
import type { Phase } from '../../src/core/vocabulary.ts'
import { allMachines } from '../../src/families/machines.ts'

/** Dense sequences, and each object on a path of its machine that begins with its creation. */
export function expectLegal(changes: readonly PhaseChange[]): void {
  expect(changes.map((change) => change.sequence)).toEqual(changes.map((_, i) => i + 1))
  const phases = new Map<string, Phase>()
  for (const { objectId, machine: name, from, to, actor, revision } of changes) {
    if (revision === 0) continue
    expect(from).toBe(phases.get(objectId) ?? null)
    const machine = allMachines.find((m) => m.name === name)
    if (!machine) throw new Error(`no machine ${name}`)
    if (from === null) expect(to).toBe(machine.initial)
    else expect(step(machine, from, actor, to)).toMatchObject({ ok: true, changed: true })
    phases.set(objectId, to)
  }
}
