import type { Tags } from 'yaml'

/** Times of day are no numbers, and dates no dates, for the tools of Kubernetes. */
const OTHERS = ['binary', 'omap', 'pairs', 'set', 'intTime', 'floatTime', 'timestamp'] as const
const isTime = (tag: Tags[number]): boolean => typeof tag === 'object' && 'format' in tag && tag.format === 'TIME'

/** As the tools of Kubernetes read YAML, which is that of version 1.1: `0644` is octal, `yes` is true, and `<<` merges. */
export const LIKE_KUBERNETES = {
  version: '1.1',
  merge: true,
  uniqueKeys: false,
  prettyErrors: false,
  logLevel: 'error',
  customTags: (tags: Tags): Tags =>
    tags.filter(
      (tag) => !isTime(tag) && !OTHERS.some((name) => (typeof tag === 'string' ? tag : tag.tag).endsWith(name)),
    ),
} as const
