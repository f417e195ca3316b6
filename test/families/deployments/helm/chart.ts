import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** A chart with a workload, a secret, a test, an octal number, a list, and whatever else its values switch on. */
const FILES: Readonly<Record<string, string>> = {
  'Chart.yaml': 'apiVersion: v2\nname: shop\nversion: 1.2.3\n',
  'values.yaml': 'colour: green\npassword: none\nhook: false\nextra: true\n',
  'crds/things.yaml': `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: things.shop.example.com }
spec:
  group: shop.example.com
  scope: Namespaced
  names: { kind: Thing, plural: things, singular: thing }
  versions:
    - name: v1
      served: true
      storage: true
      schema: { openAPIV3Schema: { type: object, x-kubernetes-preserve-unknown-fields: true } }
`,
  'templates/web.yaml': `apiVersion: apps/v1
kind: Deployment
metadata: { name: {{ .Release.Name }}-web, labels: { managed: {{ .Release.Service }} } }
spec:
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec:
      terminationGracePeriodSeconds: 0
      containers:
        - { name: main, image: 'localhost/busybox:1', imagePullPolicy: Never, command: [sh, -c, sleep 1000] }
      volumes:
        - name: settings
          configMap: { name: {{ .Release.Name }}-settings, defaultMode: 0440 }
`,
  'templates/settings.yaml': `apiVersion: v1
kind: List
items:
  - apiVersion: v1
    kind: ConfigMap
    metadata: { name: {{ .Release.Name }}-settings, namespace: {{ .Release.Namespace }} }
    data:
      colour: {{ .Values.colour | quote }}
      things: {{ .Capabilities.APIVersions.Has "shop.example.com/v1/Thing" | quote }}
{{ if .Values.extra }}
  - apiVersion: v1
    kind: ConfigMap
    metadata: { name: {{ .Release.Name }}-extra }
{{ end }}
`,
  'templates/secret.yaml': `apiVersion: v1
kind: Secret
metadata: { name: {{ .Release.Name }} }
stringData: { password: {{ .Values.password | quote }} }
{{ if eq .Values.colour "none" }}{{ fail (printf "no colour, and the password is %s" .Values.password) }}{{ end }}
`,
  'templates/test.yaml': `apiVersion: v1
kind: Pod
metadata: { name: {{ .Release.Name }}-test, annotations: { helm.sh/hook: test } }
spec: { containers: [{ name: main, image: x }] }
`,
  'templates/hook.yaml': `{{ if .Values.hook }}
apiVersion: batch/v1
kind: Job
metadata: { name: migrate, annotations: { helm.sh/hook: "pre-install,pre-upgrade" } }
spec: { template: { spec: { restartPolicy: Never, containers: [{ name: main, image: x }] } } }
{{ end }}
`,
}

export async function writeChart(folder: string): Promise<void> {
  for (const [name, text] of Object.entries(FILES)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }
}
