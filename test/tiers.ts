/**
 * The tier of each test file. `npm test` runs `unit`, `landing` and `timing`, which judge each change; `npm run test:deep` runs the
 * groups of slow, open-ended and destructive tests. A unit test compares these lists with the files.
 */

/** A group needs it besides Node and Postgres, and a script in `.ci/` provides it. */
export type Provided = 'container-engine' | 'go' | 'helm' | 'high-availability' | 'kubernetes' | 'network' | 'python'

export interface Group {
  /** Why its files are not in the landing tier. */
  readonly why: string
  readonly needs?: readonly Provided[]
  /** It runs without it, too: a line says what is left out. */
  readonly uses?: readonly Provided[]
  /** Globs of the sources that it judges: `npm run test:deep -- --changed REF` runs it when one of them has changed. */
  readonly judges: readonly string[]
  readonly files: readonly string[]
}

/** Each line is a folder and the names of its test files. */
const files = (lines: string): readonly string[] =>
  lines
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [folder = '', ...names] = line.trim().split(' ')
      return names.map((name) => `test/${folder === './' ? '' : folder}${name}.test.ts`)
    })

/** They start no server, so none is started for them: `vitest --project unit`. */
export const UNIT = files(`
  ./ architecture config judge-run packages standard-webhooks tiers
  agents/ engine-troubles gadget-protocol kubernetes-api mask mock remove-tree seccomp shown-file
  backup/ tools
  chaos/ promises
  cli/ commit-label connection-notes explain help input outcome suggest-paths text tree
  cli/verify/ forgeries hostile-files segments
  client/ crm follow-phases instant query
  core/ address-group clock-offset database-url date-time expression health json json-diff judge-causes limit-request machine
  core/ one-at-a-time process-identity redis-url schema-range time token-bucket unified-diff until-settled words
  documents/ print-documents
  engine/ clocks engine-turns
  families/ command machines start-gate
  families/automation/ same-schedule times-in-words when
  families/deployments/ forecast graph histories reconcile-effect retry-policies
  families/edge/kubernetes/ specs
  families/notifications/ match quiet-hours
  families/pipelines/ place-state
  graphql/ connection descriptions lists one-shape result-union
  hooks/ cloud-events missed-deliveries
  log/ announcement
  manifest/ manifest places project round-trip
  projects/ normalise
  runtimes/ artifact-files clone-options container-options demultiplex kubernetes-state leave-artifacts output place-name
  sandbox/ resolve validate
  seal/ merkle
  server/ body-in-time descriptions different-subscriptions document-cache encoded-batch json-pieces mask parse-json request-text
  server/ sign-in-cookie topic
  store/ expand-and-contract pool-shares sealing
  tracing/ traceparent
  web/ address completion create-model critical-path failures heat-map last-run lists navigation nested newest-results pace sought styles timeline tree tree-graph
`)

export const LANDING = files(`
  ./ docs documentation-snippets run-twice secret simulation
  agents/ crm gadget-guard gadget-work isolation-level job-runner run-gadget runtime spawn task-rules
  audit/ audit-events noted restored retention
  cli/ agent apply archive archive-verified audit complete-names context deletions diff edge environments events exports gadget-check gates given-values health
  cli/ hostile-text invariants limits loaded-modules many projects promote read-back retries round-trip runs seals secrets targets tasks watch-list forecast
  client/ agent
  clients/ apollo reference-clients relay-compiler stitching urql
  clients/agents/ vectors
  core/ surroundings
  deploy/ compose systemd
  e2e/ resume
  engine/ joined-creations new-trees renew shared-transactions
  engine/ undecided-reports work-cache
  families/ creation pause
  families/automation/ all-projects backfill batch bulk holds recorded schedules
  families/deployments/ automatic-reconcile brought-code cancel claims deletion dependencies dry-runs execution for-each gates ignore
  families/deployments/ items jobs modes orphans pins plan properties reports retries scope spec targets timeouts
  families/deployments/container/ config
  families/deployments/helm/ program
  families/deployments/import/ compose landscaper
  families/deployments/kubernetes/ config
  families/edge/ cloudlets instances resync
  families/flow/ invariants item-limits limit-order limits limits-api limits-hold rates shared-limits strategies
  families/notifications/ notifications waits write-messages
  families/operations/ gates job-retries locks retry-task tasks
  families/pipelines/ claim-payload events gates import-brigade job-retries places resources slots worker-retries
  faults/ kill-server slots-never-leak
  graphql/ audit batching blockers edge event-filter families health-situations if-unchanged json-data limits log-lines log-search mutations named-refusals nodes objects forecast
  graphql/ object-filter output-search pending-requests principals read-your-writes repeats retention runs tasks tree
  graphql/rights/ rights
  hooks/ hooks hostile kept redelivery
  log/ filter hub identity lines numberer output prune reader sealer search signal tree-at
  mcp/ plans tools transports
  oidc/ renewal tokens
  projects/ projects reseal secrets without-pipelines
  runtimes/ process service-launcher
  server/ alerts answer-size artifacts caller-limits connections dashboard deleted-meanwhile documentation fair-service graphql-over-http
  server/ health hostile-requests late-refusals log-http one-door openapi operation-timeout portable rotation safety sign-in slow-clients
  server/ streams tls trusted-documents waiting-claims
  testing/ test-server
  store/ binary guard list-plans migrate object-places plans prisma renewed-leases schema servers shared-sync
  store/ statements sweep write-watch
  web/ palette questions
`)

/** They measure times, or count what is so at a moment: `npm test` runs them last, one after the other, with nothing beside them. */
export const TIMING = files(`
  engine/ empty-claims hopeless-trees lane locked-trees stale-clock
  families/deployments/ forecast-time
  families/flow/ http-gates
  server/ fair-turns fan-out limit-documents measure-process unauthenticated-sockets
  store/ database-clock pool
`)

export const DEEP: Readonly<Record<string, Group>> = {
  faults: {
    why: 'They kill, stop and cut off real servers, and wait for the recovery.',
    judges: [
      'src/{audit,backup,engine,hooks,log,process,server,start,store,testing}/**',
      'src/{main,serve}.ts',
      'src/families/**/store/**',
    ],
    files: files(`
      chaos/ chaos
      cli/ serve
      e2e/ backup drain replaced-key restored side-by-side without-redis
      families/automation/ killed
      families/deployments/ automatic-killed gates-killed
      families/flow/ http-gates-killed invariants-killed killed
      families/notifications/ killed
      faults/ absent-postgres clock-skew edge-chaos failover frozen-server kill-audit kill-runner postgres-tls
      faults/ read-replica reconnect-storm slow-subscriber swallowed-postgres
      hooks/ killed
      store/ embedded
      testing/ left-over
      upgrade/ rolling
    `),
  },
  ha: {
    why: 'They start Patroni, PgBouncer, Redis Sentinel and a cluster of Redis.',
    needs: ['high-availability'],
    judges: ['src/{log,store}/**'],
    files: files(`
      ha/ failover pgbouncer redis
    `),
  },
  network: {
    why: 'They cut network interfaces, and no other test may run beside them.',
    needs: ['network'],
    judges: ['src/{client,log,store}/**'],
    files: files(`
      faults/ partitions
    `),
  },
  web: {
    why: 'A browser costs 3 to 6 seconds of processor time a test; web/questions and web/palette are in the landing tier.',
    judges: ['web-playground/**', 'src/{client-model,manifest,oidc,sign-in}/**', 'src/server/pages/**'],
    files: files(`
      cli/ login
      e2e/ graphiql
      fifth-family/ fifth-family guard
      web/ accessible agents around artifacts audit bulk create cross-origin dashboard documentation edge explore
      web/ gates graph hooks large-timeline large-tree locks long-names menu notifications objects output overview pause pictures places projects promotion restored resume limits
      web/ retries runs schedules scope screen-reader sign-in tabs time
    `),
  },
  languages: {
    why: 'They hold agents in other languages than TypeScript to the protocol, and need those.',
    needs: ['python'],
    uses: ['go'],
    judges: ['clients/**', 'src/client/**', 'src/engine/agents/**', 'docs/how-to/agent-in-*.md'],
    files: files(`
      clients/agents/ go how-to python typescript
    `),
  },
  agents: {
    why: 'They start, kill and isolate hundreds of processes.',
    judges: ['src/{agents,client,sandbox}/**', 'src/families/*/{agents,protocol}/**'],
    files: files(`
      agents/ api-relay artifacts crash-points crm-server deployers isolation job-runner-server process process-agent
      agents/ services two-places
      sandbox/ hostile
    `),
  },
  examples: {
    why: 'They run whole examples with a Node process for each step.',
    needs: ['container-engine', 'kubernetes'],
    judges: ['examples/**', 'src/agents/**'],
    files: files(`
      agents/ ci-example edge-example gadget-examples kubernetes-example webshop
      client/ readme-agent
    `),
  },
  containers: {
    why: 'They need a container engine.',
    needs: ['container-engine'],
    judges: ['src/agents/container/**', 'src/families/*/agents/**'],
    files: files(`
      families/deployments/container/ compose job killed-deployer service shared
      runtimes/ artifact-containers container
    `),
  },
  cluster: {
    why: 'They need a Kubernetes cluster.',
    needs: ['container-engine', 'helm', 'kubernetes'],
    judges: ['src/agents/kubernetes/**', 'src/families/*/agents/**', 'deploy/kubernetes/**'],
    files: files(`
      agents/ artifacts-in-pods kubernetes-exec
      cli/ kubernetes-sources plan-on-target
      deploy/ kubernetes
      families/deployments/kubernetes/ dry-run killed-deployer manifest misbehaving policies reported targets two-groups
      families/edge/kubernetes/ driver kubernetes-crm
      faults/ api-server-away kill-runtime
      runtimes/ kubernetes kubernetes-deploy kubernetes-finished kubernetes-log pod-artifacts watch-pod
    `),
  },
  helm: {
    why: 'They need Helm and a Kubernetes cluster.',
    needs: ['helm', 'kubernetes'],
    judges: ['src/families/deployments/agents/**'],
    files: files(`
      cli/ oci-source
      families/deployments/helm/ helm oci
    `),
  },
  package: {
    why: 'They build the product, pack it and install it elsewhere.',
    needs: ['container-engine', 'helm'],
    judges: [
      'package.json',
      'package-lock.json',
      'mcp/**',
      'deploy/**',
      'src/start/**',
      'src/{config,settings,serve}.ts',
    ],
    files: files(`
      deploy/ image release
      e2e/ package
      server/ loaded-packages
    `),
  },
  upgrade: {
    why: 'They start databases of earlier releases.',
    judges: ['prisma/**'],
    files: files(`
      upgrade/ upgrade
    `),
  },
  fuzz: {
    why: 'It searches without an end of its own.',
    judges: ['src/{graphql,manifest,sandbox,server}/**'],
    files: files(`
      fuzz/ fuzz
    `),
  },
  mcp: {
    why: 'They play fifty incidents, and search for plans that should not have been applied.',
    judges: ['mcp/**', 'src/client-model/**', 'src/families/access.ts'],
    files: files(`
      mcp/ fuzzed-plans incidents
    `),
  },
  model: {
    why: 'It searches without an end of its own.',
    judges: ['src/engine/**', 'src/families/{deployments,edge}/**'],
    files: files(`
      families/deployments/ database-histories
      families/edge/ model
    `),
  },
  e2e: {
    why: 'They start the command line and servers as processes of their own.',
    judges: [
      'src/{cli,documents,tracing}/**',
      'src/families/**/cli/**',
      'src/families/pipelines/*/cli.ts',
      'src/secret-*.ts',
      'src/store/sealing.ts',
    ],
    files: files(`
      cli/ cli.e2e git-sync pause
      e2e/ binding bring-code clones hostile-expressions secrets-of-processes secrets-stay-secret tracing
    `),
  },
}
