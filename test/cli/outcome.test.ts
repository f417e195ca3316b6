import { describe, expect, it } from 'vitest'
import { cancelMutation, deleteInput, deleteMutation } from '../../src/cli/objects/kind-mutations.ts'
import { outcomeOf, printRefusal } from '../../src/cli/objects/refusal.ts'
import { endOf } from '../../src/cli/objects/watch-end.ts'
import { EXIT, worst } from '../../src/cli/terminal/exit.ts'

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
    [conflict, EXIT.refused, 'BUSY: A job runs.\n  in the way: INSTALLATION shop (PROGRESSING, id 1)\n'],
    [transition, EXIT.refused, 'TRANSITION: No.\n  allowed from here: INIT, INIT_DELETE\n'],
  ])('%j', (answer, code, text) => {
    const outcome = outcomeOf<{ id: string }>(answer)
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

describe('mutations by kind', () => {
  it('has none for what belongs to something else', () => {
    for (const kind of ['EXECUTION', 'DEPLOY_ITEM', 'WORKER', 'GADGET_JOB']) {
      expect([cancelMutation(kind), deleteMutation(kind)]).toEqual([null, null])
    }
    expect(cancelMutation('CLUSTER_INST')).toContain('cancelClusterInst(input: $input)')
    expect(deleteMutation('EVENT')).toContain('$input: DeleteEventInput!')
  })

  it('refuses flags that mean nothing for the kind', () => {
    expect(deleteInput('INSTALLATION', '1', { force: true })).toEqual({ ok: true, value: { id: '1', force: true } })
    expect(deleteInput('CLOUDLET', '1', { cascade: true })).toEqual({ ok: true, value: { id: '1', cascade: true } })
    expect(deleteInput('TASK', '1', {})).toEqual({ ok: true, value: { id: '1' } })
    expect(deleteInput('INSTALLATION', '1', { cascade: true }).ok).toBe(false)
    expect(deleteInput('EVENT', '1', { force: true }).ok).toBe(false)
  })
})

describe('how a watched object has ended', () => {
  const error = (code: string) => ({ code, message: 'no' })
  it.each([
    ['SUCCEEDED', null, 'succeeded'],
    ['SKIPPED', null, 'succeeded'],
    ['FAILED', error('BOOM'), 'failed'],
    ['ABORTED', error('ABORTED'), 'stopped'],
    ['READY', null, 'succeeded'],
    ['READY', error('QUOTA'), 'failed'],
    ['READY', error('WITHDRAWN'), 'stopped'],
    ['OFFLINE', null, 'stopped'],
    ['OFFLINE', error('TIMEOUT'), 'failed'],
    // Only of edge objects the error tells more than the phase.
    ['SUCCEEDED', error('OLD'), 'succeeded'],
  ])('%s with %j', (phase, why, outcome) => {
    expect(endOf({ phase, error: why })).toEqual({ outcome, phase, error: why })
  })
})
