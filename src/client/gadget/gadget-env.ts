/** Variables of the agent's own environment that a gadget gets: enough to find programs and files, and no secret. */
const PASSED_ON = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TZ', 'TMPDIR', 'PHASELINE_STATE'] as const

/** Names the job of the task to its gadget: the same in every call for it. */
const JOB = 'PHASELINE_JOB'

/** Names the project of the work by its id, for a gadget whose state is one of each project. */
const PROJECT = 'PHASELINE_PROJECT'

/** Names that an item's config may set: none that a shell, a linker or an interpreter reads. */
export const SETTABLE = /^GADGET_[A-Z0-9_]{1,100}$/

/** The place in a trace, by OpenTelemetry's convention for environments. */
const TRACEPARENT = 'TRACEPARENT'

interface CallNames {
  readonly jobId?: string | null
  readonly projectId?: string | null
  readonly traceparent?: string | null
}

export function gadgetEnv(
  own: Readonly<Record<string, string | undefined>>,
  configured: Readonly<Record<string, string>>,
  { jobId = null, projectId = null, traceparent = null }: CallNames = {},
): Readonly<Record<string, string>> {
  const env: Record<string, string> = {}
  for (const name of PASSED_ON) {
    const value = own[name]
    if (value !== undefined) env[name] = value
  }
  return {
    ...env,
    ...configured,
    ...(jobId === null ? {} : { [JOB]: jobId }),
    ...(projectId === null ? {} : { [PROJECT]: projectId }),
    ...(traceparent === null ? {} : { [TRACEPARENT]: traceparent }),
  }
}
