import { describe, expect, test } from 'vitest'
import { defineMachine, type MachineDefinition } from '../../src/core/machine.ts'
import { mermaid } from '../../src/core/mermaid.ts'

const LAMP: MachineDefinition = {
  name: 'lamp',
  kinds: ['TASK'],
  initial: 'PENDING',
  final: ['DONE'],
  rows: [
    [['PENDING', 'RUNNING'], 'USER', 'ABORTING', 'switched off'],
    ['PENDING', 'CONTROLLER', 'RUNNING', 'lit'],
    ['PENDING', 'RUNTIME', 'RUNNING', 'lit by hand'],
    ['RUNNING', 'CONTROLLER', 'DONE', 'burnt out'],
    ['ABORTING', 'CONTROLLER', 'DONE', 'cold'],
    ['DONE', 'USER', 'GONE', 'thrown away'],
  ],
}

describe('a machine', () => {
  test('is expanded, its phases in the order of their first mention', () => {
    const machine = defineMachine(LAMP)
    expect(machine.transitions).toHaveLength(7)
    expect(machine.phases).toEqual(['PENDING', 'ABORTING', 'RUNNING', 'DONE'])
  })

  test.each([
    ['a row that occurs twice', [...LAMP.rows, ['PENDING', 'USER', 'ABORTING', 'again']], LAMP.final, /occurs twice/],
    ['a row out of GONE', [...LAMP.rows, ['GONE', 'USER', 'PENDING', 'found again']], LAMP.final, /leaves GONE/],
    ['a final phase without a row', LAMP.rows, ['DONE', 'SKIPPED'], /SKIPPED is in no row/],
  ] as const)('%s is a bug that shows when the table is loaded', (_, rows, final, message) => {
    expect(() => defineMachine({ ...LAMP, rows, final })).toThrow(message)
  })

  test('is drawn with one arrow from phase to phase, all its actors on it, and ends where it is final or gone', () => {
    expect(mermaid(defineMachine(LAMP))).toBe(`stateDiagram-v2
  [*] --> PENDING
  PENDING --> ABORTING: USER
  RUNNING --> ABORTING: USER
  PENDING --> RUNNING: CONTROLLER, RUNTIME
  RUNNING --> DONE: CONTROLLER
  ABORTING --> DONE: CONTROLLER
  DONE --> [*]: USER
  DONE --> [*]
`)
  })
})
