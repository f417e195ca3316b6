import { LIMITS, type Limit } from '../../core/limits.ts'
import type { ReportedError, ReportedProgress } from './work.ts'

const CUT = ' … (cut)'

/** The text, or as much of its beginning as the server takes, with a mark. */
export function fitText(text: string, { max }: Limit): string {
  if (text.length <= max) return text
  // Half of a surrogate pair is no character.
  return `${text.slice(0, max - CUT.length).replace(/[\ud800-\udbff]$/, '')}${CUT}`
}

interface Texts {
  readonly message?: string
  readonly progress?: ReportedProgress
  readonly error?: ReportedError
}

/** Cuts texts that are too long: the server would refuse the whole report, and with it the end of the work. */
export function fitReport<Report extends Texts>(report: Report): Report {
  const { message, progress, error } = report
  return {
    ...report,
    ...(message && { message: fitText(message, LIMITS.message) }),
    ...(progress && { progress: fitProgress(progress) }),
    ...(error && { error: fitError(error) }),
  }
}

const fitError = (error: ReportedError): ReportedError => ({
  ...error,
  code: fitText(error.code, LIMITS.errorCode),
  message: fitText(error.message, LIMITS.message),
})

const fitProgress = (progress: ReportedProgress): ReportedProgress => ({
  ...progress,
  ...(progress.step && { step: fitText(progress.step, LIMITS.step) }),
  ...(progress.unit && { unit: fitText(progress.unit, LIMITS.progressUnit) }),
})
