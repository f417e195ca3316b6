import { HELM_SCHEMA, type HelmConfig, MAX_RELEASE_LENGTH, RELEASE_NAME } from '../../../../core/deployers/helm.ts'
import { ConfigCheck } from '../../../../sandbox/check-config.ts'
import { DeployError, refuseProblems } from '../deploy-error.ts'

export interface ReleaseConfig extends HelmConfig {
  readonly release: string
}

const CHECK = new ConfigCheck(HELM_SCHEMA)

/** @throws DeployError */
export function readConfig(config: unknown, itemName: string): ReleaseConfig {
  refuseProblems('HELM_CONFIG', CHECK.problemsOf(config, 'config'))
  const given = config as HelmConfig
  const { release = itemName } = given
  if (release.length > MAX_RELEASE_LENGTH || !new RegExp(RELEASE_NAME).test(release))
    throw new DeployError(
      'HELM_CONFIG',
      `config.release: the item’s name cannot be that of a release; give one of lower case letters, digits and dashes, at most ${MAX_RELEASE_LENGTH}`,
    )
  return { ...given, release }
}
