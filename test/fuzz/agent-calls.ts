import type { GraphQLInputType } from 'graphql'
import { schema } from '../testkit/mutate.ts'
import { wholeDocument } from '../testkit/whole-document.ts'
import { inputOf, type Operation } from './operations.ts'
import type { Tape } from './tape.ts'

/** Calls of agents in odd orders: claims, reports, renewals and lines, with fences that are valid, old or made up. */

const CALLS = ['claimWork', 'reportPhases', 'renewLeases', 'appendLogs', 'connectCrm'] as const
const PHASES = [
  'PROGRESSING',
  'SUCCEEDED',
  'FAILED',
  'RUNNING',
  'GONE',
  'READY',
  'WAITING',
  'STARTING',
  'INIT',
] as const

const fields = schema.getMutationType()?.getFields() ?? {}
const document = (name: string): string => wholeDocument('mutation' as never, fields[name] as never, 1)
const DOCUMENTS: Readonly<Record<string, string>> = Object.fromEntries(CALLS.map((name) => [name, document(name)]))

export const agentCalls = (tape: Tape): readonly Operation[] => [
  agentCall(tape),
  ...tape.list(6, () => agentCall(tape)),
]

function agentCall(tape: Tape): Operation {
  const name = tape.pick(CALLS)
  const usual = usualInput(tape, name)
  const input = usual && !tape.once(4) ? usual : inputOf(tape, fields[name]?.args[0]?.type as GraphQLInputType)
  return { query: DOCUMENTS[name], variables: { input } }
}

function usualInput(tape: Tape, name: (typeof CALLS)[number]): object | null {
  const fence = tape.pick(['@fence', '@oldFence', '@fence', 'made-up', '@installation'])
  switch (name) {
    case 'claimWork':
      return {
        instance: tape.pick(['one', 'two']),
        types: tape.pick([['mock'], ['process'], ['gadget-job'], ['mock', 'process', 'gadget-job']]),
        max: tape.pick([1, 5, 500]),
        leaseMs: tape.pick([1_000, 30_000]),
      }
    case 'reportPhases':
      return {
        reports: [{ fence, phase: tape.pick(PHASES) }, ...tape.list(3, () => ({ fence, message: 'on its way' }))],
      }
    case 'renewLeases':
      return { fences: [fence, ...tape.list(3, () => tape.pick(['@fence', '@oldFence']))] }
    case 'appendLogs':
      return {
        lines: [{ fence, stream: 'STDOUT', text: tape.pick(['line', '\u001b[31m', '\ud800', 'x'.repeat(10_000)]) }],
      }
    default:
      return { cloudletId: '@cloudlet', instance: tape.pick(['one', 'two']), version: '1', objects: [] }
  }
}
