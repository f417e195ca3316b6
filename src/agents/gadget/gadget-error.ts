import type { GadgetResult } from '../../client/gadget/run-gadget.ts'
import type { ReportedError } from '../../client/index.ts'

type Failed = Extract<GadgetResult, { outcome: 'failed' }>
const CODES = {
  start: 'GADGET_START',
  protocol: 'GADGET_PROTOCOL',
  error: 'GADGET_FAILED',
  exit: 'GADGET_FAILED',
  signal: 'GADGET_FAILED',
} as const satisfies Record<Failed['cause'], string>

/** The reported error of a failed call. */
export const gadgetError = ({ cause, message }: Failed): ReportedError => ({ code: CODES[cause], message })
