import { isDeepStrictEqual } from 'node:util'
import type { GadgetMode } from '../../core/gadget/protocol.ts'
import { type CheckedGadget, callGadget, type GadgetCall } from './call-gadget.ts'
import { changedPath, lookAtNamedPaths } from './named-paths.ts'

export interface CheckedRule {
  /** The rule of the protocol. */
  readonly rule: string
  readonly ok: boolean
  /** The violation of the rule. */
  readonly problem: string | null
}
type Success = Extract<GadgetCall['result'], { outcome: 'succeeded' }>
type Found = string | null

/**
 * Checks a gadget against docs/gadget-protocol.md, rule by rule: it is really run, undone, interrupted and aborted. A
 * mode that fails altogether is reported once, and rules that need it are skipped.
 */
export async function* checkGadget(gadget: CheckedGadget): AsyncGenerator<CheckedRule, void> {
  const checked = (rule: string, problem: Found): CheckedRule => ({ rule, ok: problem === null, problem })
  const call = (mode: GadgetMode) => callGadget(gadget, mode)

  const looks = await lookAtNamedPaths(gadget.args)
  const declared = await call('getlocks')
  yield checked('--getlocks names its locks', problemOf(declared))
  if (declared.result.outcome === 'succeeded') {
    const { locks } = declared.result
    yield checked('--getlocks gives the same answer again', sameLocks(locks, await call('getlocks')))
    const plural = await callGadget(gadget, 'getlocks', { plural: true })
    yield checked('--protocols=text-1.0 is the same as --protocol=text-1.0', sameLocks(locks, plural))
  }
  const changed = changedPath(looks, await lookAtNamedPaths(gadget.args))
  yield checked('--getlocks does nothing', changed && `It changed ${changed}.`)
  // An earlier check may have left something: the first run must start from nothing.
  const before = await call('undo')
  yield checked('--undo of a run that never was succeeds', problemOf(before))

  const first = await call('run')
  yield checked('a run succeeds', problemOf(first))
  if (first.result.outcome === 'succeeded') {
    const done = await lookAtNamedPaths(gadget.args)
    const second = await call('run')
    yield checked('a second run notices that the work is done', sameRun(first.result, second))
    const touched = changedPath(done, await lookAtNamedPaths(gadget.args))
    yield checked('a second run changes nothing', touched && `It changed ${touched}.`)
  }
  yield checked('--undo succeeds', problemOf(await call('undo')))
  yield checked('--undo succeeds again, with nothing left to undo', problemOf(await call('undo')))

  const stopped = await callGadget(gadget, 'run', { interrupt: true })
  yield checked(`SIGINT ends a run within ${gadget.graceMs / 1000} s`, stoppedWell(stopped))
  yield checked('--abort cleans up after a run that was stopped', problemOf(await call('abort')))
  yield checked('--abort succeeds again', problemOf(await call('abort')))
  yield checked('--undo succeeds after an abort', problemOf(await call('undo')))
}

/** The failure as a sentence; null when the call succeeded. */
function problemOf({ result, late }: GadgetCall): Found {
  if (late) return 'It did not end in time and was stopped.'
  switch (result.outcome) {
    case 'succeeded':
      return null
    case 'failed':
      return result.cause === 'error' ? `It wrote: Error ${result.message}` : result.message
    case 'stopped':
      return 'It was interrupted.'
    default:
      return result satisfies never
  }
}

function sameLocks(first: Success['locks'], again: GadgetCall): Found {
  if (again.result.outcome !== 'succeeded') return problemOf(again)
  return isDeepStrictEqual(sorted(first), sorted(again.result.locks))
    ? null
    : `First it named ${spell(first)}, then ${spell(again.result.locks)}.`
}
const sorted = (locks: Success['locks']) => locks.toSorted((a, b) => (a.resource < b.resource ? -1 : 1))
const spell = (locks: Success['locks']): string =>
  sorted(locks)
    .map(({ resource, mode }) => `${resource}=${mode === 'SHARED' ? 'S' : 'X'}`)
    .join(' ') || 'none'

/** The second call does not know the result of the first, so both must be equal. */
function sameRun(first: Success, again: GadgetCall): Found {
  if (again.result.outcome !== 'succeeded') return problemOf(again)
  const [before, after] = [first.exports, again.result.exports]
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  const other = names.find((name) => !isDeepStrictEqual(before[name], after[name]))
  return other === undefined
    ? null
    : `It exported another ${other}: first ${JSON.stringify(before[other])}, then ${JSON.stringify(after[other])}.`
}

/** A call that ended before the interrupt must have succeeded. */
function stoppedWell(call: GadgetCall): Found {
  if (!call.interrupted) return problemOf(call)
  return call.killed ? 'It went on and had to be killed.' : null
}
