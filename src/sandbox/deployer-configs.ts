import { CONTAINER, CONTAINER_SCHEMA } from '../core/deployers/container.ts'
import { GATE, GATE_SCHEMA } from '../core/deployers/gate.ts'
import { HELM, HELM_SCHEMA } from '../core/deployers/helm.ts'
import { KUBERNETES_MANIFEST, KUBERNETES_MANIFEST_SCHEMA } from '../core/deployers/kubernetes-manifest.ts'
import { ConfigCheck } from './check-config.ts'

/** By the type of items: those of the built-in deployers, and of gates. */
export const DEPLOYER_CONFIGS: ReadonlyMap<string, ConfigCheck> = new Map([
  [CONTAINER, new ConfigCheck(CONTAINER_SCHEMA)],
  [GATE, new ConfigCheck(GATE_SCHEMA)],
  [HELM, new ConfigCheck(HELM_SCHEMA)],
  [KUBERNETES_MANIFEST, new ConfigCheck(KUBERNETES_MANIFEST_SCHEMA)],
])
