import { dirname, join } from 'node:path/posix'
import { defineConfig } from 'vitepress'

/** The documentation as a site: `npm run build:docs`, served at /docs by every gateway, also without a network. */

/** Where files are shown that are not part of the site. */
const REPOSITORY = 'https://github.com/phaseline/phaseline/blob/main'

/** What markdown-it knows, as far as it is used here. */
interface Token {
  readonly type: string
  content: string
  readonly children: readonly Token[] | null
  attrGet(name: string): string | null
  attrSet(name: string, value: string): void
}

/** Links that lead out of docs/ lead to the repository. */
function linkOutside(tokens: readonly Token[], page: string): void {
  for (const token of tokens) {
    if (token.children) linkOutside(token.children, page)
    const href = token.type === 'link_open' ? token.attrGet('href') : null
    if (href === null || /^([\w]+:|#|\/)/.test(href)) continue
    const path = join('docs', dirname(page), href)
    if (!path.startsWith('docs/') || /\/images\//.test(path)) token.attrSet('href', `${REPOSITORY}/${path}`)
  }
}

export default defineConfig({
  title: 'Phaseline',
  description: 'A control plane for trees of dependent work.',
  lang: 'en',
  base: '/docs/',
  outDir: '../docs-dist',
  cleanUrls: true,
  // Without it each page would have a script in its text.
  metaChunk: true,
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: '/docs/mark.svg' }]],
  markdown: {
    // Of 4.5:1 at least.
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config(md) {
      md.core.ruler.push('outside', (state) =>
        linkOutside(state.tokens as unknown as Token[], (state.env as { relativePath?: string }).relativePath ?? ''),
      )
      // The site is part of every installation, and pictures would be most of it.
      md.core.ruler.before('normalize', 'pictures', (state) => {
        state.src = state.src.replaceAll(/<picture>[\s\S]*?<\/picture>/g, '')
      })
    },
  },
  themeConfig: {
    logo: '/mark.svg',
    search: {
      provider: 'local',
      options: {
        // The name of a machine is the title of its section there, and would be found before the page on it. Records of decisions
        // are for who changes the code.
        _render: (src, env, md) =>
          env.relativePath.startsWith('adr/')
            ? ''
            : md.render(env.relativePath === 'machines.md' ? src.replaceAll(/^##+ .*$/gm, '') : src, env),
      },
    },
    outline: { level: [2, 3] },
    nav: [
      { text: 'Quick start', link: '/quick-start' },
      { text: 'API', link: '/reference/queries' },
      { text: 'Manifests', link: '/reference/manifests' },
      { text: 'Commands', link: '/reference/commands' },
    ],
    sidebar: [
      {
        text: 'Start',
        items: [
          { text: 'Quick start', link: '/quick-start' },
          { text: 'Your first agent', link: '/first-agent' },
          { text: 'The protocol of agents', link: '/agent-protocol' },
          { text: 'Concepts', link: '/concepts' },
          { text: 'Glossary', link: '/glossary' },
          { text: 'Differences to what you know', link: '/differences' },
          { text: 'Compared with others', link: '/compared' },
        ],
      },
      {
        text: 'Families',
        items: [
          { text: 'Deployments', link: '/deployments' },
          { text: 'Pipelines', link: '/pipelines' },
          { text: 'Operations', link: '/tasks' },
          { text: 'Schedules', link: '/schedules' },
          { text: 'Bulk operations', link: '/bulk' },
          { text: 'Gates', link: '/gates' },
          { text: 'Forecast', link: '/forecast' },
          { text: 'Retries', link: '/retries' },
          { text: 'Limits by key', link: '/limits-by-key' },
          { text: 'Hooks', link: '/hooks' },
          { text: 'Notifications', link: '/notifications' },
          { text: 'Edge', link: '/edge' },
        ],
      },
      {
        text: 'Use',
        items: [
          { text: 'Everyday questions', link: '/questions' },
          { text: 'Command line', link: '/cli' },
          { text: 'Dashboard', link: '/dashboard' },
          { text: 'Streams', link: '/streams' },
          { text: 'Verify the log', link: '/verify' },
          { text: 'HTTP', link: '/http' },
          { text: 'Testing', link: '/testing' },
          { text: 'Model Context Protocol', link: '/mcp' },
          { text: 'State machines', link: '/machines' },
          { text: 'Changes of the schema', link: '/schema-changes' },
        ],
      },
      {
        text: 'How to',
        items: [
          { text: 'Deploy from CI', link: '/how-to/deploy-from-ci' },
          { text: 'Build what is pushed', link: '/how-to/build-a-repository' },
          { text: 'An agent in Python', link: '/how-to/agent-in-python' },
          { text: 'An agent in Go', link: '/how-to/agent-in-go' },
          { text: 'Test with a database', link: '/how-to/test-with-a-database' },
          { text: 'From a push to production', link: '/how-to/from-push-to-production' },
          { text: 'Production only after staging', link: '/how-to/production-after-staging' },
          { text: 'Deploy what is in Git', link: '/how-to/gitops' },
          { text: 'Come from Docker Compose', link: '/how-to/from-compose' },
          { text: 'Add a cluster', link: '/how-to/add-a-cluster' },
          { text: 'Come from Landscaper', link: '/how-to/from-landscaper' },
          { text: 'Come from Brigade', link: '/how-to/from-brigade' },
          { text: 'Come from GitHub Actions', link: '/how-to/from-github-actions' },
          { text: 'Come from Argo Workflows', link: '/how-to/from-argo-workflows' },
          { text: 'Tell the team', link: '/how-to/tell-the-team' },
          { text: 'Leave cron and a queue', link: '/how-to/leave-cron-and-a-queue' },
          { text: 'A nightly build that tells you', link: '/how-to/nightly-build' },
          { text: 'Retry what is flaky', link: '/how-to/retry-what-is-flaky' },
          { text: 'Keep the log for years', link: '/how-to/archive-the-log' },
        ],
      },
      {
        text: 'Agents',
        items: [
          { text: 'Runtimes and places', link: '/runtimes' },
          { text: 'Gadgets', link: '/gadget-protocol' },
          { text: 'Containers', link: '/container-deployer' },
          { text: 'Kubernetes manifests', link: '/kubernetes-manifest' },
          { text: 'Kubernetes, rule by rule', link: '/kubernetes-rules' },
          { text: 'Helm charts', link: '/helm' },
          { text: 'Edge on Kubernetes', link: '/kubernetes-crm' },
        ],
      },
      {
        text: 'Operate',
        items: [
          { text: 'Installation', link: '/install' },
          { text: 'Operations', link: '/operations' },
          { text: 'Health', link: '/health' },
          { text: 'High availability', link: '/high-availability' },
          { text: 'Scaling', link: '/scaling' },
          { text: 'Security', link: '/security' },
          { text: 'Threat model', link: '/threats' },
          { text: 'Limits', link: '/limits' },
          { text: 'Backup', link: '/backup' },
          { text: 'Upgrading', link: '/upgrading' },
          { text: 'Reliability', link: '/reliability' },
          { text: 'Benchmarks', link: '/benchmarks' },
        ],
      },
      {
        text: 'Reference',
        items: [
          { text: 'Queries', link: '/reference/queries' },
          { text: 'Mutations', link: '/reference/mutations' },
          { text: 'Subscriptions', link: '/reference/subscriptions' },
          { text: 'Types', link: '/reference/types' },
          { text: 'Inputs', link: '/reference/inputs' },
          { text: 'Enums and scalars', link: '/reference/enums' },
          { text: 'Manifests', link: '/reference/manifests' },
          { text: 'Commands', link: '/reference/commands' },
        ],
      },
      {
        text: 'Contribute',
        items: [
          { text: 'Adding a field', link: '/adding-a-field' },
          { text: 'Adding a family', link: '/adding-a-family' },
        ],
      },
    ],
  },
})
