/** What every sender promises, kept towards push services by `node:http2`. */

import t from 'tap';
import { webPushContract } from '../../../support/web-push-contract.ts';

webPushContract(t, 'compat');
