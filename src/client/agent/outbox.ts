import { LIMITS } from '../../core/limits.ts'
import { changeTexts } from '../../core/report-texts.ts'
import { ClientError } from '../client-error.ts'
import type { Outbox } from './active-work.ts'
import type { AgentApi, FencedLine, FencedReport, ReportAnswer } from './agent-api.ts'
import { Batcher } from './batcher.ts'
import { fitText } from './fit-text.ts'

/** Lines of one call. */
const MAX_LINES = 500
/** Several calls at a time keep the server busy while answers travel. */
const REPORT_CALLS = 3
/** Lines that may wait to be sent. */
const MAX_WAITING_LINES = 20_000

export interface OpenOutbox extends Outbox {
  close(): void
}

/** Sends reports in few calls, each repeated until it is answered; log lines likewise, in order, with a bound. */
export function openOutbox(
  api: Pick<AgentApi, 'report' | 'appendLogs'>,
  onProblem: (what: 'report' | 'log', error: Error) => void,
): OpenOutbox {
  const reports = new Batcher<FencedReport, ReportAnswer>({
    send: (batch) => sendReports(api, batch),
    max: LIMITS.reports.max,
    calls: REPORT_CALLS,
    keyOf: ({ fence }) => fence,
    // More than two minutes: a database failover may take so long.
    maxRefusals: { final: 5, retryable: 30 },
    onProblem: (error) => onProblem('report', error),
  })
  const lines = new Batcher<FencedLine, true>({
    send: async (batch) => {
      await api.appendLogs(batch, steadyTime())
      return batch.map(() => true as const)
    },
    max: MAX_LINES,
    calls: 1,
    keyOf: () => '',
    maxRefusals: { final: 1, retryable: 5 },
    onProblem: (error) => onProblem('log', error),
  })
  return {
    report: (fence, report) => reports.add({ ...('dryRun' in report ? report : changeTexts(report, fitText)), fence }),
    get hasRoom() {
      return lines.size < MAX_WAITING_LINES
    },
    log: (fence, stream, text) => lines.add({ fence, at: steadyTime(), stream, text: fitText(text, LIMITS.logLine) }),
    close() {
      reports.close()
      lines.close()
    },
  }
}

/** A report that the server cannot even read, as with a phase that it does not have, is refused by itself. */
async function sendReports(
  api: Pick<AgentApi, 'report'>,
  batch: readonly FencedReport[],
): Promise<readonly ReportAnswer[]> {
  try {
    return await api.report(batch)
  } catch (error) {
    // Any entry of a batch may be the invalid one, so each is sent alone.
    if (batch.length > 1 || !(error instanceof ClientError) || error.code !== 'BAD_USER_INPUT') throw error
    return [{ accepted: false, type: 'InvalidInputError', message: error.message }]
  }
}

/** The wall clock of the process start, advanced by the monotonic clock: it cannot be set between a line and its sending. */
const steadyTime = (): string => new Date(performance.timeOrigin + performance.now()).toISOString()
