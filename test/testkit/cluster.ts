import { leaveOut } from './leave-out.ts'

/** A cluster for tests: KUBECONFIG names it, and its nodes have the image. False: there is none, and a line says so. */
export function hasCluster(): boolean {
  const { PHASELINE_TEST_KUBERNETES: isAllowed, KUBECONFIG: kubeconfig } = process.env
  if (isAllowed === 'yes' && kubeconfig) return true
  leaveOut('kubernetes', 'they need PHASELINE_TEST_KUBERNETES=yes, and a cluster in KUBECONFIG.')
  return false
}

/** A shell as root, as which nothing may run by default. */
export const CLUSTER_IMAGE = 'localhost/busybox:1'
