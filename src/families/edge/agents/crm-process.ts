import type { AgentProcessOptions } from '../../../agents/agent-process.ts'
import type { CrmBehaviourInput } from './behaviour.ts'

/** The simulated CRM of a cloudlet. */
export interface CrmProcessOptions {
  /** The id or the name of the cloudlet that it serves. */
  readonly cloudlet: string
  /** Version of a new state folder; 1.0.0 by default. */
  readonly version?: string | undefined
  /** By default every operation succeeds at once. */
  readonly behaviour?: CrmBehaviourInput | undefined
}

/** The settings that an agent process needs to run it. */
export const crmProcess = ({
  cloudlet,
  version,
  behaviour = {},
}: CrmProcessOptions): Pick<AgentProcessOptions, 'types' | 'options' | 'settings' | 'hasSuccessors'> => ({
  types: ['crm'],
  options: { cloudlet, 'crm-version': version },
  settings: { PHASELINE_CRM: JSON.stringify(behaviour) },
  hasSuccessors: true,
})
