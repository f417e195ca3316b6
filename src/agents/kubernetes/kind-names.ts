/** The plural of the kind Deployment of `apps/v1`, as it stands in paths. */
export const DEPLOYMENTS = 'deployments'
