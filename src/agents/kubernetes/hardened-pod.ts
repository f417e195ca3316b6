/** Every pod of an agent may do what the Pod Security Standard `restricted` allows, and its texts are literal. */

interface PodUser {
  /** `root-allowed`: the user may be root. */
  readonly security?: 'restricted' | 'root-allowed' | undefined
  /** User and group id; the image's own otherwise. */
  readonly runAsUser?: number | undefined
}

export const hardenedPod = ({ security, runAsUser }: PodUser) => ({
  runAsNonRoot: security !== 'root-allowed',
  ...(runAsUser === undefined ? {} : { runAsUser, runAsGroup: runAsUser }),
  seccompProfile: { type: 'RuntimeDefault' },
})

export const hardenedContainer = (readOnlyRootFilesystem: boolean) => ({
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem,
  capabilities: { drop: ['ALL'] },
})

/** Kubernetes replaces $(NAME) in commands and values, and `$$` by `$`. */
export const literally = (text: string): string => text.replaceAll('$', '$$$$')
