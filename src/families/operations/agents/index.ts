import { claimWork } from '../../../agents/claim-work.ts'
import { gadgetOptions } from '../../../agents/gadget/gadget-options.ts'
import type { AgentProgram } from '../../../agents/program.ts'
import { jobWork } from './job-work.ts'

export const gadgetJob: AgentProgram = (context) =>
  claimWork(context, { type: 'gadget-job', concurrency: 32, work: jobWork(gadgetOptions(context)) })
