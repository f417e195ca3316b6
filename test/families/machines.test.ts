import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { failureOf, finalReport } from '../../src/client/agent/final-report.ts'
import type { WorkItem } from '../../src/client/agent/work.ts'
import { allowedFrom, type Machine, step } from '../../src/core/machine.ts'
import { ACTORS, type Actor, OBJECT_KINDS, PHASES, type Phase, WORK_ACTIONS } from '../../src/core/vocabulary.ts'
import { kindsOf } from '../../src/engine/families.ts'
import { machines as automation } from '../../src/families/automation/machines.ts'
import { machines as deployments } from '../../src/families/deployments/machines.ts'
import { machines as edge } from '../../src/families/edge/machines.ts'
import type { Family } from '../../src/families/family.ts'
import { machines as operations } from '../../src/families/operations/machines.ts'
import { machines as pipelines } from '../../src/families/pipelines/machines.ts'

const machines = [...deployments, ...pipelines, ...operations, ...edge, ...automation]

/**
 * The tables of the specification, copied by hand and on purpose not built from ours. Lines after `rules:` are the rows
 * that its prose asks for; each has its reason beside it in the machine.
 */
const SPECIFIED: Readonly<Record<string, string>> = {
  installation: `
    PENDING              CONTROLLER  PENDING_DEPENDENCIES
    PENDING              CONTROLLER  INIT
    PENDING_DEPENDENCIES CONTROLLER  INIT
    PENDING_DEPENDENCIES CONTROLLER  FAILED
    PENDING_DEPENDENCIES CONTROLLER  ABORTED
    INIT                 CONTROLLER  CLEANUP_ORPHANED
    CLEANUP_ORPHANED     CONTROLLER  OBJECTS_CREATED
    OBJECTS_CREATED      CONTROLLER  PROGRESSING
    PROGRESSING          CONTROLLER  COMPLETING
    COMPLETING           CONTROLLER  SUCCEEDED
    INIT | CLEANUP_ORPHANED | OBJECTS_CREATED | PROGRESSING | COMPLETING  CONTROLLER  FAILED
    INIT | CLEANUP_ORPHANED | OBJECTS_CREATED | PROGRESSING | COMPLETING  CONTROLLER  ABORTED
    SUCCEEDED | FAILED | ABORTED  CONTROLLER  INIT, PENDING_DEPENDENCIES
    PENDING | SUCCEEDED | FAILED | ABORTED | DELETE_FAILED  CONTROLLER  INIT_DELETE
    INIT_DELETE          CONTROLLER  TRIGGER_DELETE
    TRIGGER_DELETE       CONTROLLER  DELETING
    DELETING             CONTROLLER  GONE
    INIT_DELETE | TRIGGER_DELETE | DELETING  CONTROLLER  DELETE_FAILED`,
  execution: `
    PENDING | SUCCEEDED | FAILED | ABORTED  CONTROLLER  INIT
    INIT         CONTROLLER  PROGRESSING
    PROGRESSING  CONTROLLER  COMPLETING
    COMPLETING   CONTROLLER  SUCCEEDED
    INIT | PROGRESSING | COMPLETING  CONTROLLER  FAILED, ABORTED
    PENDING | SUCCEEDED | FAILED | ABORTED | DELETE_FAILED  CONTROLLER  INIT_DELETE
    INIT_DELETE  CONTROLLER  DELETING
    DELETING     CONTROLLER  GONE
    INIT_DELETE | DELETING  CONTROLLER  DELETE_FAILED`,
  deployItem: `
    PENDING | SUCCEEDED | FAILED | ABORTED  CONTROLLER  INIT
    INIT         CONTROLLER  FAILED, ABORTED, SUCCEEDED
    INIT         DEPLOYER    PROGRESSING, SUCCEEDED, FAILED
    PROGRESSING  DEPLOYER    SUCCEEDED, FAILED, ABORTED
    PROGRESSING  CONTROLLER  FAILED, ABORTED, INIT
    INIT         USER        FAILED, SUCCEEDED
    PENDING | SUCCEEDED | FAILED | ABORTED | DELETE_FAILED  CONTROLLER  INIT_DELETE
    INIT_DELETE  DEPLOYER    DELETING, GONE, DELETE_FAILED
    DELETING     DEPLOYER    GONE, DELETE_FAILED
    INIT_DELETE | DELETING  CONTROLLER  DELETE_FAILED
    PENDING | INIT_DELETE   CONTROLLER  GONE`,
  worker: `
    PENDING   CONTROLLER  STARTING, SCHEDULING_FAILED, CANCELED, FAILED
    PENDING   USER        CANCELED, FAILED
    PENDING   CONTROLLER  TIMED_OUT
    STARTING | RUNNING | UNKNOWN  CONTROLLER  PENDING
    ABORTED | CANCELED | FAILED | SCHEDULING_FAILED | SUCCEEDED | TIMED_OUT  CONTROLLER  GONE
    PENDING   WORKER      CANCELED
    STARTING  RUNTIME     RUNNING, SUCCEEDED, FAILED, UNKNOWN, SCHEDULING_FAILED, ABORTED
    STARTING  CONTROLLER  SCHEDULING_FAILED, TIMED_OUT
    STARTING | RUNNING | UNKNOWN  USER        ABORTED
    STARTING | RUNNING | UNKNOWN  CONTROLLER  ABORTED
    STARTING | RUNNING | UNKNOWN  WORKER      ABORTED, TIMED_OUT
    STARTING | RUNNING  CONTROLLER  UNKNOWN
    UNKNOWN   CONTROLLER  FAILED
    PENDING | STARTING | RUNNING | UNKNOWN  USER  GONE
    ABORTED | CANCELED | FAILED | SCHEDULING_FAILED | SUCCEEDED | TIMED_OUT  USER  GONE
    RUNNING   RUNTIME     SUCCEEDED, FAILED, UNKNOWN, ABORTED
    UNKNOWN   RUNTIME     RUNNING, SUCCEEDED, FAILED, ABORTED
    RUNNING | UNKNOWN  CONTROLLER  TIMED_OUT
    rules:
    PENDING   CONTROLLER  SUCCEEDED`,
  task: `
    PENDING           CONTROLLER  RUNNING
    RUNNING           CONTROLLER  SUCCEEDED, FAILED
    PENDING | RUNNING USER        ABORTING
    ABORTING          CONTROLLER  ABORTED
    SUCCEEDED | FAILED | ABORTED  USER  GONE`,
  gadgetJob: `
    PENDING    CONTROLLER     DECLARING
    PENDING    CONTROLLER     DONE
    DECLARING  GADGET_RUNNER  WAITING, FAILED
    WAITING    CONTROLLER     RUNNING
    RUNNING    GADGET_RUNNER  DONE
    RUNNING    GADGET_RUNNER  UNDOING
    RUNNING    CONTROLLER     UNDOING
    UNDOING    GADGET_RUNNER  FAILED, RUNNING, ABORTED, UNDO_FAILED
    RUNNING    USER           ABORTING
    ABORTING   GADGET_RUNNER  ABORTED, UNDO_FAILED
    PENDING | DECLARING | WAITING  USER  ABORTED
    UNDO_FAILED  USER         UNDOING, FAILED
    PENDING    CONTROLLER     SKIPPED
    rules:
    PENDING    CONTROLLER     FAILED
    WAITING    CONTROLLER     SKIPPED
    UNDOING    GADGET_RUNNER  PENDING
    PENDING    USER           FAILED
    WAITING    CONTROLLER     FAILED
    DONE | FAILED | ABORTED | SKIPPED  CONTROLLER  GONE`,
  instance: `
    NOT_PRESENT       USER        CREATE_REQUESTED
    CREATE_REQUESTED  CRM         CREATING, READY, CREATE_ERROR
    CREATING          CRM         READY, CREATE_ERROR
    CREATE_ERROR      CONTROLLER  NOT_PRESENT
    READY             USER        UPDATE_REQUESTED
    UPDATE_REQUESTED  CRM         UPDATING, READY, UPDATE_ERROR
    UPDATING          CRM         READY, UPDATE_ERROR
    UPDATE_ERROR      CONTROLLER  READY
    READY             USER        DELETE_PREPARE
    DELETE_PREPARE    CONTROLLER  DELETE_REQUESTED, READY
    DELETE_REQUESTED  CRM         DELETING, DELETED, DELETE_ERROR
    DELETING          CRM         NOT_PRESENT, DELETE_ERROR
    DELETED           CONTROLLER  NOT_PRESENT
    DELETE_ERROR      CONTROLLER  READY
    rules:
    CREATE_REQUESTED | CREATING  CONTROLLER  CREATE_ERROR
    UPDATE_REQUESTED | UPDATING  CONTROLLER  UPDATE_ERROR
    DELETE_REQUESTED | DELETING  CONTROLLER  DELETE_ERROR
    DELETE_REQUESTED  CRM         NOT_PRESENT
    NOT_PRESENT | READY | DELETE_PREPARE | DELETED  CONTROLLER  GONE
    CREATE_REQUESTED | CREATING | CREATE_ERROR  CONTROLLER  GONE
    UPDATE_REQUESTED | UPDATING | UPDATE_ERROR  CONTROLLER  GONE
    DELETE_REQUESTED | DELETING | DELETE_ERROR  CONTROLLER  GONE`,
  cloudlet: `
    OFFLINE  USER        INIT
    OFFLINE  CRM         INIT
    READY | INIT | INIT_OK  CRM  INIT
    INIT     CONTROLLER  INIT_OK
    INIT_OK  CRM         READY
    INIT | INIT_OK | READY  CONTROLLER  OFFLINE
    OFFLINE  USER        GONE`,
  cloudletUpgrade: `
    READY             USER        UPDATE_REQUESTED
    UPDATE_REQUESTED  CRM_V1      UPDATING, UPDATE_ERROR
    UPDATE_REQUESTED | UPDATING  CONTROLLER  INIT_OK
    UPDATING          CRM_V2      READY
    INIT_OK           CRM_V2      READY
    UPDATING | INIT_OK  CRM_V1    UPDATE_ERROR
    UPDATE_REQUESTED | UPDATING | INIT_OK  CONTROLLER  UPDATE_ERROR
    UPDATE_ERROR      CRM_V1      UPDATE_ERROR
    UPDATE_ERROR      USER        READY`,
  schedule: `
    ACTIVE            USER        PAUSED
    PAUSED            USER        ACTIVE
    ACTIVE            CONTROLLER  ACTIVE
    ACTIVE            USER        ACTIVE
    PAUSED            USER        PAUSED
    PAUSED            CONTROLLER  PAUSED
    FINISHED          CONTROLLER  FINISHED
    ACTIVE | PAUSED   CONTROLLER  FINISHED
    ACTIVE | PAUSED   USER        FINISHED
    FINISHED          USER        ACTIVE, PAUSED
    rules:
    ACTIVE | PAUSED | FINISHED  USER  GONE`,
  bulkOperation: `
    PENDING           CONTROLLER  RUNNING
    RUNNING           CONTROLLER  SUCCEEDED, FAILED
    PENDING | RUNNING USER        ABORTED
    SUCCEEDED | FAILED | ABORTED  USER  GONE`,
}

function parse(table: string): readonly string[] {
  const lines = table.split('\n').map((line) => line.trim())
  return lines
    .filter((line) => line && line !== 'rules:')
    .flatMap((line) => {
      const actor = line.split(/[\s|,]+/).find((word) => ACTORS.some((known) => known === word))
      if (!actor) throw new Error(`no actor in: ${line}`)
      const [froms = '', tos = ''] = line.split(new RegExp(`\\s${actor}\\s`))
      return froms.split('|').flatMap((from) => tos.split(',').map((to) => `${from.trim()} ${actor} ${to.trim()}`))
    })
    .sort()
}
const rowsOf = ({ transitions }: Machine) => transitions.map(({ from, actor, to }) => `${from} ${actor} ${to}`).sort()

const AGENTS: readonly Actor[] = ['DEPLOYER', 'RUNTIME', 'WORKER', 'GADGET_RUNNER', 'CRM', 'CRM_V1', 'CRM_V2']
const machine = fc.constantFrom(...machines)
const phase = fc.constantFrom(...PHASES)
const actor = fc.constantFrom(...ACTORS)

describe('the tables', () => {
  test('are the machines of the specification, and every kind has one', () => {
    expect(machines.map(({ name }) => name).sort()).toEqual(Object.keys(SPECIFIED).sort())
    expect(new Set(machines.flatMap(({ kinds }) => kinds))).toEqual(new Set(OBJECT_KINDS))
  })

  test.each(machines.map((each) => [each.name, each] as const))(
    '%s has exactly the rows it should have',
    (name, each) => {
      expect(rowsOf(each)).toEqual(parse(SPECIFIED[name] ?? ''))
      expect(each.transitions.filter(({ reason }) => reason.trim() === '')).toEqual([])
    },
  )

  test('the first machine of a cloudlet is its connection, the second its upgrade', () => {
    expect(machines.filter(({ kinds }) => kinds.includes('CLOUDLET')).map(({ name }) => name)).toEqual([
      'cloudlet',
      'cloudletUpgrade',
    ])
  })

  test('every phase can be reached, and from every phase that is not final a final one or the end', () => {
    for (const { name, initial, final, phases, transitions } of machines) {
      const onward = (from: readonly Phase[]): ReadonlySet<Phase> => {
        const reached = new Set(from)
        for (const at of reached) for (const row of transitions) if (row.from === at) reached.add(row.to)
        return reached
      }
      const found = onward([initial])
      expect(
        phases.filter((each) => !found.has(each)),
        `${name}: never reached`,
      ).toEqual([])
      const stuck = phases.filter(
        (each) => !final.includes(each) && onward([each]).isDisjointFrom(new Set([...final, 'GONE'])),
      )
      expect(stuck, `${name}: no way out`).toEqual([])
    }
  })

  test('no late message of an agent leaves a final phase; only a CRM starting up takes a cloudlet from OFFLINE or READY', () => {
    const leaving = machines.flatMap(({ name, final, transitions }) =>
      transitions
        .filter(({ from, actor, to }) => final.includes(from) && from !== to && AGENTS.includes(actor))
        .map(({ from, actor, to }) => `${name} ${from} ${actor} ${to}`),
    )
    expect(leaving).toEqual(['cloudlet OFFLINE CRM INIT', 'cloudlet READY CRM INIT'])
  })

  test('the terminal phases of workers and jobs are terminal for good: only deletion leaves them', () => {
    for (const { final, transitions } of pipelines) {
      expect(new Set(transitions.filter(({ from }) => final.includes(from)).map(({ to }) => to))).toEqual(
        new Set(['GONE']),
      )
    }
  })

  test('a pending deletion is only ever repeated, never undone', () => {
    for (const { transitions } of deployments) {
      expect(transitions.filter(({ from }) => from === 'DELETE_FAILED').map(({ to }) => to)).toEqual(['INIT_DELETE'])
    }
  })

  test('a user is offered nothing that no request can do: gadget jobs and instances vanish by the controller alone', () => {
    for (const each of machines.filter(({ name }) => name === 'gadgetJob' || name === 'instance')) {
      expect(each.phases.filter((from) => allowedFrom(each, from, 'USER').includes('GONE'))).toEqual([])
    }
  })
})

describe('the guard', () => {
  test('accepts the rows of the table, and otherwise only repeated reports of actors that may report the phase', () => {
    fc.assert(
      fc.property(machine, phase, actor, phase, (each, from, by, to) => {
        const verdict = step(each, from, by, to)
        const isRow = parse(SPECIFIED[each.name] ?? '').includes(`${from} ${by} ${to}`)
        const mayReport = each.transitions.some((row) => row.actor === by && row.to === to)
        expect(verdict.ok).toBe(isRow || (from === to && mayReport))
        // A firing leaves a schedule in its phase, and is a change.
        if (verdict.ok) expect(verdict.changed).toBe(from !== to || (isRow && each.name === 'schedule'))
      }),
      { numRuns: 2_000 },
    )
  })

  test('a refusal names where this actor may go from here, and each of these it may', () => {
    fc.assert(
      fc.property(machine, phase, actor, phase, (each, from, by, to) => {
        const verdict = step(each, from, by, to)
        if (verdict.ok) return
        expect(verdict.allowed).not.toContain(to)
        for (const next of verdict.allowed) expect(step(each, from, by, next).ok).toBe(true)
      }),
    )
  })

  test('a repeated final report is accepted unchanged from those who may end it', () => {
    const [, , deployItem] = deployments
    if (!deployItem) throw new Error('no machine for deploy items')
    expect(step(deployItem, 'SUCCEEDED', 'DEPLOYER', 'SUCCEEDED')).toMatchObject({ ok: true, changed: false })
    expect(step(deployItem, 'SUCCEEDED', 'WORKER', 'SUCCEEDED')).toEqual({ ok: false, allowed: [] })
    expect(step(deployItem, 'FAILED', 'DEPLOYER', 'SUCCEEDED')).toEqual({ ok: false, allowed: [] })
  })
})

test('two families with a question or an effect of the same name are refused', () => {
  const bare = { machines: [], details: [], questions: {}, effects: {} } as unknown as Family
  const asks: Family = { ...bare, questions: { failedJobs: async () => [] } }
  const writes: Family = { ...bare, effects: { ready: async () => [] } }
  expect(() => kindsOf([asks, writes])).not.toThrow()
  expect(() => kindsOf([asks, bare, asks])).toThrow('two families have the question failedJobs')
  expect(() => kindsOf([writes, writes])).toThrow('two families have the effect ready')
  expect(() => kindsOf([asks]).effect('ready')).toThrow('no family has the effect ready')
})

/** The phases in which an agent has work of each action. The agent reports no phase of the other actions. */
const WORKED_IN: Readonly<Record<string, readonly [machine: string, actor: Actor, phases: readonly Phase[]]>> = {
  RECONCILE: ['deployItem', 'DEPLOYER', ['INIT', 'PROGRESSING']],
  DELETE: ['deployItem', 'DEPLOYER', ['INIT_DELETE', 'DELETING']],
  START: ['worker', 'RUNTIME', ['STARTING', 'RUNNING']],
  GET_LOCKS: ['gadgetJob', 'GADGET_RUNNER', ['DECLARING']],
  RUN: ['gadgetJob', 'GADGET_RUNNER', ['RUNNING']],
  UNDO: ['gadgetJob', 'GADGET_RUNNER', ['UNDOING']],
  ABORT: ['gadgetJob', 'GADGET_RUNNER', ['ABORTING']],
}

// The phases are words of the protocol of agents, which the client knows, too: a claimed item does not repeat them.
test.each(WORK_ACTIONS)('the guard takes what the client reports of %s that its agent could not do', (action) => {
  const item = { action } as WorkItem
  const failure = failureOf(item, { code: 'TEST', message: 'It could not be done.' })
  const [name, actor, phases] = WORKED_IN[action] ?? []
  expect(failure === null).toBe(name === undefined)
  const machine = machines.find((one) => one.name === name)
  for (const from of phases ?? []) {
    expect(machine?.phases).toContain(from)
    if (machine && actor && failure) expect(step(machine, from, actor, failure.phase)).toMatchObject({ ok: true })
  }
  if (action !== 'DELETE' || !machine || !actor) return
  for (const phase of ['SUCCEEDED', 'FAILED', 'ABORTED', 'PROGRESSING'] as const) {
    const report = finalReport(item, { phase }, null)
    for (const from of phases ?? [])
      expect(step(machine, from, actor, (report as { phase: Phase }).phase)).toMatchObject({ ok: true })
  }
})
