/**
 * config/kubernetes: kubectl builds it; each manifest is of Kubernetes' own types, unknown fields
 * refused; a linter finds nothing; it fits the engine and its image; and a cluster that runs no
 * container as root takes it.
 */

import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { createDefaultMonokleValidator } from '@monokle/validation';
import type { IDeployment } from 'kubernetes-models/apps/v1';
import type { INetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import type { IPodDisruptionBudget } from 'kubernetes-models/policy/v1';
import type { IConfigMap, IService } from 'kubernetes-models/v1';
import type { Test } from 'tap';
import t from 'tap';
import { parseAllDocuments } from 'yaml';
import { readConfig, schema } from '../../src/app/config.ts';
import { ROOT, readText, sectionOf } from '../support/documents.ts';
import { findProgram, runProgram } from '../support/programs.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** Where the types of each kind are. */
const TYPES = {
  ConfigMap: 'kubernetes-models/v1',
  Deployment: 'kubernetes-models/apps/v1',
  NetworkPolicy: 'kubernetes-models/networking.k8s.io/v1',
  PodDisruptionBudget: 'kubernetes-models/policy/v1',
  Service: 'kubernetes-models/v1',
} as const;

interface Kinds {
  readonly ConfigMap: IConfigMap;
  readonly Deployment: IDeployment;
  readonly NetworkPolicy: INetworkPolicy;
  readonly PodDisruptionBudget: IPodDisruptionBudget;
  readonly Service: IService;
}

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

const kubectl = findProgram('kubectl');
const options = { skip: kubectl === null && 'kubectl is not installed' };

/** The manifests that kubectl would give to a cluster. */
async function build(t: Test): Promise<readonly Manifest[]> {
  const folder = join(ROOT, 'config', 'kubernetes');
  const { code, out, err } = await runProgram(t, kubectl ?? '', ['kustomize', folder]);
  t.equal(code, 0, err);
  return parseAllDocuments(out.toString()).map((document) => document.toJS() as Manifest);
}

/** The compiler's faults of a manifest as a value of its kind. */
async function compile(t: Test, manifests: readonly Manifest[]): Promise<string> {
  const lines = manifests.map((manifest, index) => {
    const { kind } = manifest;
    const from = TYPES[kind as keyof typeof TYPES] ?? `no-types-of-${kind}`;
    return `export const it${index}: import('${from}').I${kind} = ${JSON.stringify(manifest)};`;
  });
  const folder = temporaryDirectory(t, { 'manifests.ts': lines.join('\n') });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const flags = ['--noEmit', '--ignoreConfig', '--strict', '--skipLibCheck', '--types', ''];
  const args = [compiler, ...flags, '--module', 'nodenext', join(folder, 'manifests.ts')];
  return (await runProgram(t, process.execPath, args)).out.toString();
}

t.test('each manifest is what Kubernetes takes', options, async (t) => {
  const manifests = await build(t);
  t.same(manifests.map(({ kind }) => kind).sort(), Object.keys(TYPES));
  t.equal(await compile(t, manifests), '');
  // The check itself: a field that is misspelled, one that is missing, a value that is none.
  const deployment = JSON.stringify(manifests.find(({ kind }) => kind === 'Deployment'));
  for (const [right, wrong, told] of [
    ['"readinessProbe"', '"readynessProbe"', 'readynessProbe'],
    ['"selector":', '"selektor":', 'selektor'],
    ['"RollingUpdate"', '"Rolling"', 'Rolling'],
  ] as const) {
    t.ok(deployment.includes(right));
    t.match(await compile(t, [JSON.parse(deployment.replace(right, wrong))]), told);
  }
});

/** The image's user is `node`, whose ids are below 10,000. */
const ACCEPTED = ['KBP104 tagcast', 'KBP105 tagcast'];

/**
 * Monokle's faults: its rule and the name of the manifest. Its other plugins ask the internet, or
 * want labels of the installation.
 */
async function lint(manifests: readonly Manifest[]): Promise<readonly string[]> {
  const validator = createDefaultMonokleValidator();
  await validator.preload({ plugins: { 'pod-security-standards': true, practices: true } });
  const resources = manifests.map((content, index) => ({
    ...{ id: String(index), name: content.metadata.name, content, text: JSON.stringify(content) },
    ...{ apiVersion: content.apiVersion, kind: content.kind },
    ...{ fileId: 'base', filePath: 'base', fileOffset: 0 },
  }));
  const { runs } = await validator.validate({ resources });
  return runs.flatMap(({ results }) =>
    results.map(({ ruleId, locations }) => {
      const [name = ''] = locations[1]?.logicalLocations?.[0]?.fullyQualifiedName?.split('.') ?? [];
      return `${ruleId} ${name}`;
    }),
  );
}

t.test('a linter finds nothing', options, async (t) => {
  const manifests = await build(t);
  t.same((await lint(manifests)).toSorted(), ACCEPTED);
  // The linter itself: a pod that may write to its root, and one on the machine's network.
  const text = JSON.stringify(manifests);
  const writable = text.replace('"readOnlyRootFilesystem":true', '"readOnlyRootFilesystem":false');
  t.ok(writable !== text && (await lint(JSON.parse(writable))).length > ACCEPTED.length);
  const near = text.replace('"enableServiceLinks":false', '"hostNetwork":true');
  t.ok(near !== text && (await lint(JSON.parse(near))).length > ACCEPTED.length);
});

t.test('it fits the engine', options, async (t) => {
  const found = await build(t);
  const only = <Kind extends keyof Kinds>(kind: Kind): Kinds[Kind] => {
    const of = found.filter((manifest) => manifest.kind === kind);
    t.equal(of.length, 1, kind);
    return of[0] as unknown as Kinds[Kind];
  };
  const deployment = only('Deployment');
  const pod = deployment.spec?.template.spec;
  const [container, ...others] = pod?.containers ?? [];
  if (container === undefined || pod === undefined) throw new Error('there is no container');
  t.same(others, []);
  const [, image = ''] = readText('Dockerfile')
    .split(/^FROM /m)
    .slice(1);
  const setInImage = Object.fromEntries(
    [...(/^ENV (.+)$/m.exec(image)?.[1] ?? '').matchAll(/(\w+)=(\S+)/g)].map(([, key, value]) => [
      key,
      value,
    ]),
  );

  // Settings: of the ConfigMap, and of the Secret as install.md makes it.
  const settings = only('ConfigMap');
  const section = sectionOf(readText('docs/operate/install.md'), '## Kubernetes');
  const secrets = [...section.matchAll(/--from-literal=(\w+)=/g)].map(([, name = '']) => name);
  t.ok(secrets.includes('DATABASE_URL') && secrets.includes('SECRET_KEY'));
  for (const name of [...Object.keys(settings.data ?? {}), ...secrets]) {
    t.ok(name in schema.shape, `${name} is a variable`);
  }
  const config = readConfig({
    ...setInImage,
    ...settings.data,
    DATABASE_URL: 'postgres://tagcast@db.internal/tagcast',
    SECRET_KEY: 'a secret of the tests, long enough',
  });
  t.match(config, { ok: true });
  const sources = container.envFrom ?? [];
  t.match(sources, [
    { configMapRef: { name: settings.metadata?.name } },
    { secretRef: { name: 'tagcast' } },
  ]);
  t.match(section, /create secret generic tagcast\b/);

  // Ports, from the balancer to the socket.
  const [port] = container.ports ?? [];
  t.equal(String(port?.containerPort), setInImage['PORT']);
  t.match(image, new RegExp(`^EXPOSE ${port?.containerPort}$`, 'm'));
  t.equal(only('Service').spec?.ports?.[0]?.targetPort, port?.name);
  const { startupProbe, livenessProbe, readinessProbe } = container;
  for (const [probe, path] of [
    [startupProbe, '/livez'],
    [livenessProbe, '/livez'],
    [readinessProbe, '/readyz'],
  ] as const) {
    t.match(probe?.httpGet, { path, port: port?.name });
    t.match(readText('src/api/open/health.ts'), `'${path}'`);
  }
  t.ok((readinessProbe?.timeoutSeconds ?? 0) > 2, 'PostgreSQL has two seconds to answer');

  // Rolling updates: no caller is turned away, and tasks under way are given back.
  t.match(deployment.spec?.strategy, { rollingUpdate: { maxUnavailable: 0 } });
  t.ok((deployment.spec?.replicas ?? 0) >= 2);
  t.equal(only('PodDisruptionBudget').spec?.maxUnavailable, 1);
  const before = Number(container.lifecycle?.preStop?.exec?.command?.at(-1)) * 1_000;
  const [, drainMs = ''] = /DRAIN_TIMEOUT_MS = ([\d_]+);/.exec(readText('src/app/serve.ts')) ?? [];
  const graceMs = (pod.terminationGracePeriodSeconds ?? 0) * 1_000;
  t.ok(before > 0 && graceMs >= before + Number(drainMs.replaceAll('_', '')) + 1_000, 'in time');

  // Everything that selects pods selects these.
  const labels = deployment.spec?.template.metadata?.labels;
  for (const selected of [
    deployment.spec?.selector.matchLabels,
    only('Service').spec?.selector,
    only('PodDisruptionBudget').spec?.selector?.matchLabels,
    only('NetworkPolicy').spec?.podSelector?.matchLabels,
    ...(pod.topologySpreadConstraints ?? []).map((it) => it.labelSelector?.matchLabels),
  ]) {
    t.same(selected, labels);
  }
  const { version } = JSON.parse(readText('package.json')) as { version: string };
  t.equal(container.image, `tagcast:${version}`);
});

/** https://kubernetes.io/docs/concepts/security/pod-security-standards, "Restricted". */
t.test('it keeps to the restricted pod security standard', options, async (t) => {
  const found = (await build(t)).find(({ kind }) => kind === 'Deployment');
  const pod = (found as unknown as IDeployment).spec?.template.spec;
  const [container] = pod?.containers ?? [];
  t.match(pod?.securityContext, {
    runAsNonRoot: true,
    seccompProfile: { type: 'RuntimeDefault' },
  });
  t.ok((pod?.securityContext?.runAsUser ?? 0) > 0);
  t.same(container?.securityContext, {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  });
  t.notOk(pod?.hostNetwork || pod?.hostPID || pod?.hostIPC);
  t.same(
    pod?.volumes?.flatMap((volume) => Object.keys(volume)).filter((key) => key !== 'name'),
    ['emptyDir'],
  );
  t.equal(pod?.automountServiceAccountToken, false);
  t.ok(container?.resources?.requests?.['memory'] && container.resources.limits?.['memory']);
  // The volume of DATA_DIR may be written, and nothing else.
  t.match(container?.volumeMounts, [{ mountPath: '/data' }]);
  t.equal(container?.volumeMounts?.length, 1);
  t.match(readFileSync(join(ROOT, 'Dockerfile'), 'utf8'), /DATA_DIR=\/data\b/);
});
