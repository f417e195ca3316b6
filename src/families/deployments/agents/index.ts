import { claimWork } from '../../../agents/claim-work.ts'
import { gadgetOptions } from '../../../agents/gadget/gadget-options.ts'
import type { AgentProgram } from '../../../agents/program.ts'
import { gadgetWork } from './gadget-work.ts'
import { mockWork } from './mock.ts'

const EXIT_FAILED = 1

export const mock: AgentProgram = (context) =>
  claimWork(context, {
    type: 'mock',
    concurrency: 4_000,
    work: mockWork({ crash: () => process.exit(EXIT_FAILED) }),
  })

export const gadget: AgentProgram = (context) =>
  claimWork(context, { type: 'gadget', concurrency: 8, work: gadgetWork(gadgetOptions(context)) })
