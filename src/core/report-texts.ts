import { LIMITS, type Limit } from './limits.ts'

type Text = string | null | undefined
interface Texts {
  readonly message?: Text
  readonly progress?: { readonly step?: Text; readonly unit?: Text } | null | undefined
  readonly error?: { readonly code: string; readonly message: string } | null | undefined
}

/** The report with each of its texts for people changed, as its bound asks. */
export function changeTexts<Report extends Texts>(
  report: Report,
  change: (text: string, limit: Limit) => string,
): Report {
  const { message, progress, error } = report
  return {
    ...report,
    ...(message && { message: change(message, LIMITS.message) }),
    ...(progress && {
      progress: {
        ...progress,
        ...(progress.step && { step: change(progress.step, LIMITS.step) }),
        ...(progress.unit && { unit: change(progress.unit, LIMITS.progressUnit) }),
      },
    }),
    ...(error && {
      error: {
        ...error,
        code: change(error.code, LIMITS.errorCode),
        message: change(error.message, LIMITS.message),
      },
    }),
  }
}
