import { describe, expect, it } from 'vitest'
import { findVerb } from '../../src/cli/objects/machines.ts'
import { printRefusal } from '../../src/cli/objects/refusal.ts'
import { verbDocument, verbInput } from '../../src/cli/objects/verbs.ts'
import { endOf } from '../../src/cli/objects/watch-end.ts'
import { EXIT, worst } from '../../src/cli/terminal/exit.ts'
import { outcomeOf } from '../../src/client-model/index.ts'
import { machinesOf } from './machines.ts'

const sink = () => {
  const written: string[] = []
  return { written, write: (text: string) => written.push(text) }
}

describe('typed errors', () => {
  const invalidInput = {
    __typename: 'InvalidInputError',
    code: 'INVALID_INPUT',
    message: 'Not valid.',
    fields: [{ path: 'input.spec.deployItems.2.dependsOn.0', message: 'there is no item x\u001b[2J' }],
  }
  const conflict = {
    __typename: 'ConflictError',
    code: 'BUSY',
    message: 'A job runs.',
    object: { id: '1', kind: 'INSTALLATION', name: 'shop', phase: 'PROGRESSING' },
  }
  const transition = {
    __typename: 'TransitionError',
    code: 'TRANSITION',
    message: 'No.',
    allowed: ['INIT', 'INIT_DELETE'],
  }

  it.each([
    [
      invalidInput,
      EXIT.usage,
      'INVALID_INPUT: Not valid.\n  input.spec.deployItems.2.dependsOn.0: there is no item x\n',
    ],
    [conflict, EXIT.refused, 'BUSY: A job runs.\n  in the way: installation shop (PROGRESSING, id 1)\n'],
    [transition, EXIT.refused, 'TRANSITION: No.\n  allowed from here: INIT, INIT_DELETE\n'],
  ])('%j', (answer, code, text) => {
    const outcome = outcomeOf(answer)
    if (outcome.ok) throw new Error('expected a refusal')
    const [out, err] = [sink(), sink()]
    expect(printRefusal(outcome.refusal, false, out, err)).toBe(code)
    expect([out.written.join(''), err.written.join('')]).toEqual(['', text])
  })

  it('is one JSON document on standard output with --json', () => {
    const outcome = outcomeOf(conflict)
    const [out, err] = [sink(), sink()]
    if (!outcome.ok) printRefusal(outcome.refusal, true, out, err)
    const { __typename: type, ...rest } = conflict
    expect(JSON.parse(out.written.join(''))).toEqual({ error: { type, ...rest } })
    expect(err.written).toEqual([])
  })

  it('takes an object that has an error for what it is', () => {
    const failed = { __typename: 'Installation', id: '1', error: { code: 'X', message: 'y' } }
    expect(outcomeOf(failed)).toEqual({ ok: true, value: failed })
  })

  it('gives the worst exit code of several', () => {
    expect(worst([])).toBe(EXIT.ok)
    expect(worst([EXIT.failed, EXIT.refused, EXIT.ok, EXIT.usage])).toBe(EXIT.refused)
  })
})

const machines = machinesOf()
const verb = (kind: string, name: string) => {
  const found = findVerb(machines, kind, name)
  if (!found) throw new Error(`${kind} has no verb ${name}`)
  return found
}

describe('mutations by kind', () => {
  it('has none for what belongs to something else', () => {
    for (const kind of ['EXECUTION', 'DEPLOY_ITEM', 'WORKER', 'GADGET_JOB', 'UNHEARD_OF']) {
      expect([findVerb(machines, kind, 'cancel'), findVerb(machines, kind, 'delete')]).toEqual([undefined, undefined])
    }
    expect(verbDocument(verb('CLUSTER_INST', 'cancel'))).toContain('cancelClusterInst(input: $input)')
    expect(verbDocument(verb('EVENT', 'delete'))).toContain('$input: DeleteEventInput!')
  })

  it('refuses flags that mean nothing for the kind', () => {
    const input = (kind: string, flags: readonly string[] = []) => verbInput(verb(kind, 'delete'), '1', flags)
    expect(input('INSTALLATION', ['force'])).toEqual({ ok: true, value: { id: '1', force: true } })
    expect(input('CLOUDLET', ['cascade'])).toEqual({ ok: true, value: { id: '1', cascade: true } })
    expect(input('TASK')).toEqual({ ok: true, value: { id: '1' } })
    expect(input('INSTALLATION', ['cascade']).ok).toBe(false)
    expect(input('EVENT', ['force']).ok).toBe(false)
  })

  it('sends what a verb says beside its flags', () => {
    expect(verbInput(verb('GADGET_JOB', 'giveUpUndo'), '1', [])).toEqual({
      ok: true,
      value: { decision: 'GIVE_UP', id: '1' },
    })
  })
})

describe('how a watched object has ended', () => {
  const error = (code: string) => ({ code, message: 'no' })
  it.each([
    ['TASK', 'SUCCEEDED', null, 'succeeded'],
    ['GADGET_JOB', 'SKIPPED', null, 'succeeded'],
    ['INSTALLATION', 'FAILED', error('BOOM'), 'failed'],
    ['INSTALLATION', 'ABORTED', error('ABORTED'), 'stopped'],
    ['APP_INST', 'READY', null, 'succeeded'],
    ['APP_INST', 'READY', error('QUOTA'), 'failed'],
    ['APP_INST', 'READY', error('WITHDRAWN'), 'stopped'],
    ['CLOUDLET', 'OFFLINE', null, 'stopped'],
    ['CLOUDLET', 'OFFLINE', error('TIMEOUT'), 'failed'],
    // Only where no phase says that something has failed, the error tells more than the phase.
    ['INSTALLATION', 'SUCCEEDED', error('OLD'), 'succeeded'],
  ])('%s %s with %j', (kind, phase, why, outcome) => {
    expect(endOf({ kind, phase, error: why }, machines)).toEqual({ outcome, phase, error: why })
  })
})
