import type { FamilyWords } from '../../core/vocabulary.ts'

export const words: FamilyWords = {
  kinds: {
    EVENT: 'Something that has happened, as it was taken up by one project. Its phase is that of its worker.',
    WORKER: 'The process that an event starts. It may create jobs.',
    JOB: 'A process that a worker starts through the API.',
  },
  actors: {
    RUNTIME: 'An agent that starts and watches the processes of workers and jobs.',
    WORKER: 'The process of a worker, which creates and cancels jobs of its own event.',
  },
  phases: {
    PENDING: 'A worker or job waits at its gate, or for a slot.',
    STARTING: 'A worker or job has a slot, and a runtime has to start it.',
    RUNNING: 'Worker, job: its process runs.',
    UNKNOWN:
      'The runtime of a worker or job has lost its lease, or cannot tell how the process is. It fails with RUNTIME_LOST if the runtime does not come back in time (5 minutes by default).',
    CANCELED: 'A worker or job was cancelled before it started. Final.',
    SCHEDULING_FAILED: 'A worker or job could not be started; `error` says why. Final.',
    TIMED_OUT: 'A worker or job took longer than its timeout and was stopped. Final.',
  },
  actions: {
    START: 'For runtimes: start the worker or job, or adopt it when `attempt` is above 1.',
    REMOVE: 'For runtimes: remove what is left of the worker or job, then report `done`.',
  },
}
