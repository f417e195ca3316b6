/** The causes for which health is not HEALTHY, as data. */

export const VERDICTS = {
  HEALTHY: 'Nothing needs a person.',
  DEGRADED: 'Something needs a person soon, or is slower than it should be.',
  UNHEALTHY: 'Some work cannot continue.',
} as const
export type Verdict = keyof typeof VERDICTS

/** The subject of a cause. */
export interface HealthSubject {
  /** Null: it belongs to no project, or to several. */
  readonly project: string | null
  /** Such as a path, or the name of a hook. */
  readonly name: string
  /** Null: it is no object. */
  readonly object: { readonly id: string; readonly rootId: string } | null
}

interface CauseDefinition {
  readonly severity: Exclude<Verdict, 'HEALTHY'>
  readonly meaning: string
  /** The next action, as a sentence. */
  readonly action: string
  /** The command that mends it, or shows more. */
  readonly command: (subject: HealthSubject) => string
  /** The page of the dashboard, or of the documentation; null: that of the object. */
  readonly page: string | null
}
export type Severity = CauseDefinition['severity']
const cause = (
  severity: Severity,
  meaning: string,
  action: string,
  command: CauseDefinition['command'] = named('get'),
  page: string | null = null,
): CauseDefinition => ({ severity, meaning, action, command, page })
const ofServer = (severity: Severity, meaning: string, action: string, command = 'phaseline status --load') =>
  cause(severity, meaning, action, () => command, '/docs/health')
/** Commands on one thing by its name. */
const named =
  (command: string): CauseDefinition['command'] =>
  ({ name, project }) =>
    `phaseline ${command} ${name} --project ${project}`
const CERTIFICATE = [
  'Replace the files of PHASELINE_TLS_CERT and PHASELINE_TLS_KEY: the server reads them by itself.',
  'openssl x509 -noout -enddate -in "$PHASELINE_TLS_CERT"',
] as const

/** All causes, and the next action of each. Their order decides between causes that are equal otherwise. */
export const HEALTH_CAUSES = {
  NOT_WRITABLE: ofServer(
    'UNHEALTHY',
    'The database takes no writes: it lacks space, memory or a working disk, or is a standby.',
    'Give Postgres what the message names.',
  ),
  LOG_NOT_NUMBERED: ofServer(
    'UNHEALTHY',
    'Committed changes get no number in the log, so that no subscriber sees them.',
    'Search the logs of the servers for the numberer, and restart that process.',
  ),
  ENGINE_LATE: ofServer(
    'UNHEALTHY',
    'Trees are due, and no engine decides them.',
    'Read the logs of the engines, and restart them: that is safe at any moment.',
  ),
  SERVER_NOT_READY: ofServer(
    'UNHEALTHY',
    'The server answers slowly or not at all: another of its checks fails.',
    'Compare the check with the table of checks in the documentation.',
  ),
  CERTIFICATE_EXPIRED: ofServer('UNHEALTHY', 'The certificate has expired, so that clients refuse it.', ...CERTIFICATE),
  NO_AGENT: cause(
    'UNHEALTHY',
    'Work has waited for a minute, and no connected agent takes it.',
    'Start an agent for it, or correct the types, targets and token of one.',
    () => 'phaseline agents --all',
    '/agents',
  ),
  NO_PLACE: cause(
    'UNHEALTHY',
    'Work has waited for a minute for a place that no connected runtime has.',
    'Connect a runtime with such a place, or end the drain of one.',
  ),
  CLOUDLET_OFFLINE: cause(
    'UNHEALTHY',
    'Requests have waited for a minute for a cloudlet whose resource manager is not connected.',
    'Start the resource manager of the cloudlet.',
  ),
  DISK_LOW: ofServer(
    'DEGRADED',
    'The disk of the data folder has less than a tenth and less than 1 GiB free.',
    'Free some space, or shorten the retention times.',
    'df -h "${PHASELINE_DATA:-.phaseline}"',
  ),
  TREES_FAILING: ofServer(
    'DEGRADED',
    'Trees cannot be decided, and are tried again and again.',
    'Search the logs of the engines for rootId.',
  ),
  CLOCK_OFF: ofServer(
    'DEGRADED',
    'The clock of the server is off by more than 5 s. It decides nothing, but dates lines of the log.',
    'Correct the time service of the machine.',
    'timedatectl',
  ),
  CERTIFICATE_EXPIRES: ofServer('DEGRADED', 'The certificate expires within 14 days.', ...CERTIFICATE),
  DECISION: cause('DEGRADED', 'A person must decide, or approve.', 'Decide: the object names the choices.'),
  FAILED: cause(
    'DEGRADED',
    'A tree has failed. One that cannot run again counts for a day.',
    'Correct what has failed, and run it again.',
  ),
  MISSING_IMPORT: cause(
    'DEGRADED',
    'A tree has waited for a minute for data that nobody has set or exported.',
    'Set the data, or run what exports it.',
  ),
  DEADLINE_NEAR: cause(
    'DEGRADED',
    'Four fifths of a timeout have passed, after which the object fails.',
    'Read what it prints; its spec may name a longer timeout.',
  ),
  WORK_WAITS: cause(
    'DEGRADED',
    'Agents are connected, and work has waited for them for five minutes.',
    'Start more agents for it.',
    () => 'phaseline status --load',
    '/agents',
  ),
  SLOTS_FULL: cause(
    'DEGRADED',
    'Work has waited for a slot for five minutes.',
    'Raise the limit of the project or of the server, or cancel what holds the slots.',
  ),
  PAUSED: cause('DEGRADED', 'A tree with work to do is paused.', 'Resume it once the reason is gone.', named('resume')),
  AUTOMATION_HELD: cause(
    'DEGRADED',
    'Schedules, hooks and notifications are held.',
    'Release them once the reason is gone.',
    ({ project }) => `phaseline automation release${project === null ? '' : ` --project ${project}`}`,
    '/schedules',
  ),
  SCHEDULE_OVERDUE: cause(
    'DEGRADED',
    'A schedule has started nothing that succeeded for longer than it may.',
    'Find out why what it started did not succeed.',
    named('schedule get'),
  ),
  SCHEDULE_REFUSED: cause(
    'DEGRADED',
    'The last firing of a schedule was refused.',
    'Correct what it starts, or let somebody with the right apply it.',
    named('schedule get'),
  ),
  HOOK_REFUSES: cause(
    'DEGRADED',
    'A hook has refused its last delivery within a day, or cannot ask its sender for lost ones.',
    'Correct the hook or its sender, then replay the delivery.',
    named('hook get'),
    '/hooks',
  ),
  NOTIFICATIONS_LATE: cause(
    'DEGRADED',
    'The receiver of a notification rule has taken no message for five minutes, or messages were given up within a day.',
    'Correct the receiver, and send again what was given up.',
    named('notification get'),
    '/rules',
  ),
  TOKEN_EXPIRES: cause(
    'DEGRADED',
    'A token expires within a week, or has expired within a day.',
    'Create the next one and hand it over, then revoke this one.',
    () => 'phaseline token list',
    '/tokens',
  ),
} as const
export type HealthCauseName = keyof typeof HEALTH_CAUSES
